import { expect, it, onTestFinished, vi } from 'vitest';
import { clockDifferences } from '../../../lib/command/server-clock.js';
import { etcd } from '../../../lib/etcd/index.js';

it('the clock of a server is known although the rest of its answer is aborted', async () => {
  // The stream fails between the headers and its end, which a real server cannot be made to do in time.
  const body = new ReadableStream({ start: (stream) => stream.error(new Error('The operation was aborted')) });
  const answer = new Response(body, { headers: { date: 'Thu, 01 Jan 2026 12:00:00 GMT' } });
  const fetched = vi.spyOn(globalThis, 'fetch').mockResolvedValue(answer);
  const backend = etcd({ hosts: '127.0.0.1:1' }).create();
  onTestFinished(() => {
    fetched.mockRestore();
    return backend.close();
  });
  const now = () => Date.parse('2026-01-01T12:00:00.500Z');
  expect(await clockDifferences(backend, now, 5_000)).toEqual([{ server: '127.0.0.1:1', offMs: 0 }]);
});
