import { describe, expect, it } from 'vitest';
import { whileCurrent } from '../../../../lib/zookeeper/coordination/while-current.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const EXPIRED = { isCurrent: false, timeoutMs: 1_000 } as Session;

describe('a wait for an answer, while the session is current', () => {
  it('ends when the session may have expired', async () => {
    expect(await whileCurrent(EXPIRED, new Promise(() => {}), () => 'doubtful')).toBe('doubtful');
  });

  it('prefers an answer that has arrived by then, and is read in the next turn', async () => {
    const answer = new Promise((resolve) => setImmediate(resolve, 'answered'));
    expect(await whileCurrent(EXPIRED, answer, () => 'doubtful')).toBe('answered');
  });
});
