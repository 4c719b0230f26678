import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe } from 'vitest';
import { etcd } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { surveyTests } from '../support/survey/survey-checks.js';

let server: EtcdServer;

beforeAll(async () => {
  server = await EtcdServer.start();
});

afterAll(() => server.stop());

describe('a survey of etcd', () => {
  const base = `locks/${randomUUID()}`;
  surveyTests(
    (place, { host = server.host, ...settings } = {}) =>
      etcd({ hosts: host, basePath: `${base}/${place}`, ...settings }).create(),
    () => `127.0.0.1:${server.port}`,
  );
});
