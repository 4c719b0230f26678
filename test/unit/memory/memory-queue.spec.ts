import { describe, expect, it } from 'vitest';
import { MemoryQueues } from '../../../lib/memory/memory-coordination.js';

const request = { key: 'mail', wait: true };

describe('a queue in memory', () => {
  it('keeps the place of the next taker when one gives up just after it was served', async () => {
    const queues = new MemoryQueues();
    const [leaving, { signal }] = [new AbortController(), new AbortController()];
    const served = queues.take({ ...request, atMost: 1, signal: leaving.signal });
    const next = queues.take({ ...request, atMost: 1, signal });
    const put = (text: string) => queues.put({ ...request, payloads: [Buffer.from(text)], signal });
    const first = put('first');
    leaving.abort();
    await first;
    await put('second');
    const [one, other] = await Promise.all([served, next]);
    expect([...one, ...other].map(({ payload }) => payload.toString())).toEqual(['first', 'second']);
  });
});
