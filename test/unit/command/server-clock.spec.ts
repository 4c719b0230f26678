import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { clockDifferences } from '../../../lib/command/server-clock.js';
import { etcd } from '../../../lib/etcd/index.js';

it('the clock of a server is known although the rest of its answer is cut off', async () => {
  const server = createServer((_, response) => {
    response.writeHead(200, { date: 'Thu, 01 Jan 2026 12:00:00 GMT', 'content-length': 10 });
    response.write('half', () => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const backend = etcd({ hosts: host }).create();
  onTestFinished(() => backend.close());
  const now = () => Date.parse('2026-01-01T12:00:00.500Z');
  expect(await clockDifferences(backend, now, 30_000)).toEqual([{ server: host, offMs: 0 }]);
});
