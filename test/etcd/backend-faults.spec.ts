import { afterAll, beforeAll, describe, it } from 'vitest';
import { backendFaults, EtcdServer } from '../../lib/testing/index.js';
import { etcdSubject } from './support/fault-subject.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

describe('locks by etcd', () => {
  backendFaults(
    { describe, it },
    etcdSubject(() => server),
  );
});
