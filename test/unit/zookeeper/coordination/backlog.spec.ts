import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  forgetBacklog,
  keepBacklog,
  keptBacklog,
  leftBacklog,
} from '../../../../lib/zookeeper/coordination/backlog.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

vi.mock(import('../../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

const itemNames = (count: number) => Array.from({ length: count }, (_, n) => `queue-${String(n).padStart(10, '0')}`);

describe('the listed names of a queue', () => {
  let session: Session;

  beforeEach(() => {
    session = {} as Session;
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => void vi.useRealTimers());

  it('are kept for the front of a long queue, without the items that are gone', () => {
    const names = itemNames(5_000);
    keepBacklog(session, '/q/items', names);
    leftBacklog(session, `/q/items/${names[1]}`);
    leftBacklog(session, `/other/items/${names[2]}`);
    expect(keptBacklog(session, '/q/items')?.slice(0, 3)).toEqual([names[0], names[2], names[3]]);
    expect(keptBacklog(session, '/q/items')!.length).toBeLessThan(2_000);
    expect(keptBacklog({} as Session, '/q/items')).toBeUndefined();
  });

  it.each([
    ['of a short one', () => keepBacklog(session, '/q/items', itemNames(20))],
    ['when all is gone', () => itemNames(5_000).forEach((name) => leftBacklog(session, `/q/items/${name}`))],
    ['when it will not do', () => forgetBacklog(session, '/q/items')],
    ['for long', () => vi.advanceTimersByTime(60_000)],
  ])('is not kept %s', (_what, happens) => {
    keepBacklog(session, '/q/items', itemNames(5_000));
    happens();
    expect(keptBacklog(session, '/q/items')).toBeUndefined();
  });
});
