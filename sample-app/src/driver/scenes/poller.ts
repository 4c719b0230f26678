import { setTimeout as pause } from 'node:timers/promises';
import { POLLS } from '../../poller/poll.js';
import type { Poll } from '../../poller/poll.js';
import { tally } from '../answer.js';
import type { Scene, Stage } from '../scene.js';

const LOOK_EVERY_MS = 50;

export const poller: Scene = {
  name: 'poller',
  story:
    'five instances fetch messages from one feed, and the one that leads is killed; each message must be fetched once',
  violation: 'fetched again',

  async play(stage) {
    const { shop, files, sizes } = stage;
    const switched = await Promise.all(shop.instances.map((instance) => instance.put('/poller')));
    const before = await untilFetched(stage, sizes.polls, () => true);
    const first = before.at(-1)?.by;
    const killedAt = performance.now();
    await shop.kill(first);
    await untilFetched(stage, before.length + sizes.polls, ({ by }) => by !== first);
    const failOverMs = performance.now() - killedAt;
    switched.push(...(await Promise.all(shop.instances.map((instance) => instance.delete('/poller')))));
    const polls = await files.records<Poll>(POLLS);
    const makers = [...new Set(polls.map(({ by }) => by))].toSorted();
    return {
      requests: polls.length,
      done: polls.length,
      refused: new Map(),
      failed: tally(switched).failed,
      worstWaitMs: Math.round(failOverMs),
      violations: polls.length - new Set(polls.map(({ message }) => message)).size,
      remark: `fetched by ${makers.join(', ')}; ${first} was killed`,
    };
  },
};

/** Resolves when so many messages were fetched and the last of them is the requested one. */
async function untilFetched({ files, signal }: Stage, count: number, isLast: (poll: Poll) => boolean) {
  for (;;) {
    const polls = await files.records<Poll>(POLLS);
    const last = polls.at(-1);
    if (polls.length >= count && last && isLast(last)) return polls;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
}
