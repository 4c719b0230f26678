import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import { backendContract, EtcdServer } from '../../lib/testing/index.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

describe('locks by etcd', () => {
  const basePath = `locks/${randomUUID()}`;
  backendContract(
    { describe, it },
    {
      open: () => etcd({ hosts: server.host, basePath }).create(),
      limitMs: 30_000,
    },
  );
});
