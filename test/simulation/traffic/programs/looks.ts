import { actUntilFinished, passSome } from '../desk.js';
import type { Desk } from '../desk.js';
import { GivenUp } from '../../../robustness/traffic/attempt.js';

const OBSERVED = 'captain';

/** Looks at the wait queues of keys, and observes an election for a while. */
export async function looks(desk: Desk): Promise<void> {
  await Promise.all([lookAtLines(desk), observe(desk)]);
}

async function lookAtLines(desk: Desk): Promise<void> {
  await actUntilFinished(desk, async () => {
    const key = desk.random.pick(desk.orders.locks.busyKeys);
    await desk.calls.make({ on: 'lock', key, ask: 'contenders' }, () => desk.locks.contenders(key));
  });
}

async function observe(desk: Desk): Promise<void> {
  await actUntilFinished(desk, async () => {
    const enough = new AbortController();
    const watching = desk.calls.make({ on: 'election', key: OBSERVED, ask: 'observe' }, () =>
      readAll(desk, enough.signal),
    );
    for (let times = desk.random.int(1, 20); times > 0; times--) await passSome(desk, desk.orders.pauseMs);
    enough.abort(new GivenUp('seen enough'));
    await watching;
  });
}

async function readAll({ elections }: Desk, signal: AbortSignal): Promise<number> {
  let seen = 0;
  for await (const _leader of elections.observe(OBSERVED, { signal })) seen += 1;
  return seen;
}
