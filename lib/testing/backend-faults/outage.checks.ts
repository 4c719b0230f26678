import assert from 'node:assert/strict';
import { LockLostError } from '../../contract/errors.js';
import { faultChecksOf } from './fault-check.js';
import type { FaultStage } from './fault-stage.js';

/** More requests than a wait makes before its first look. */
const REQUESTS_BEFORE_LOOK = 20;

/** Waits of a client, by what they wait for, and what other clients do to end them. */
interface Waits {
  readonly waits: Readonly<Record<string, Promise<unknown>>>;
  readonly end: () => Promise<unknown>;
}

/** Resolves when the client has no server, and each of its looks that would end for that reason has ended. */
async function longOutage(stage: FaultStage): Promise<void> {
  stage.proxy.refuse();
  stage.proxy.disconnect();
  await stage.until(() => stage.one.backend.state !== 'connected', 'the end of a connection');
  const request = async () => {
    const asked = stage.within(stage.ask(stage.one, { wait: false }), 'an error');
    await assert.rejects(asked, { code: 'LOCK_UNAVAILABLE' });
  };
  const end = performance.now() + 2 * stage.sessionMs;
  do await request();
  while (performance.now() < end);
  // A look that has begun by now has no more time than this request.
  await request();
}

/** Waits through a long outage. They all go on, and end when what they wait for happens after it. */
async function waitsGoOn(stage: FaultStage, begin: () => Promise<Waits | undefined>): Promise<void> {
  const { waits = {}, end } = (await begin()) ?? {};
  if (!end) return;
  const ended: string[] = [];
  for (const [what, wait] of Object.entries(waits)) {
    const note = (how: string) => ended.push(`${what}: ${how}`);
    wait.then(
      () => note('resolved'),
      (error: unknown) => note(String(error)),
    );
  }
  for (let request = 0; request < REQUESTS_BEFORE_LOOK; request++) await stage.one.backend.lineOf(stage.key);
  await longOutage(stage);
  assert.deepEqual(ended, [], 'a wait ends during an outage');
  stage.proxy.heal();
  await stage.until(() => stage.one.backend.state === 'connected', 'another connection');
  await end();
  for (const [what, wait] of Object.entries(waits)) await stage.within(wait, `the end of a wait: ${what}`);
}

export const OUTAGES = faultChecksOf('an outage that is longer than a session, and than a request may take', {
  'ends no wait for a lock, or for its holder': {
    sessions: 'short',
    play: (stage) =>
      waitsGoOn(stage, async () => {
        const { one, other, key } = stage;
        const lease = await stage.hold(other);
        const waits: Record<string, Promise<unknown>> = { lock: stage.ask(one) };
        await stage.standing(2);
        const asked = new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }));
        const revoking = one.backend.revoke?.(key, { graceMs: Infinity, signal: undefined });
        if (revoking) {
          waits['holder'] = revoking;
          await stage.within(asked, 'the signal of the holder');
        }
        return { waits, end: () => stage.within(lease.release(), 'release()') };
      }),
  },

  'ends no wait for an item, room, a value or a barrier': {
    sessions: 'short',
    play: (stage) =>
      waitsGoOn(stage, async () => {
        const [mine, others] = [stage.one.backend.coordination, stage.other.backend.coordination];
        if (!mine || !others) return undefined;
        const { key } = stage;
        const { signal } = new AbortController();
        const [empty, full, waiting] = [`${key}/empty`, `${key}/full`, { wait: true, signal } as const];
        const put = { payloads: [Buffer.from('item')], maxItems: 1, ...waiting };
        await others.queues.put({ ...put, key: full });
        await others.barriers.raise(key, signal);
        const waits = {
          item: mine.queues.take({ key: empty, atMost: 1, ...waiting }),
          room: mine.queues.put({ ...put, key: full }),
          value: mine.cells.next(key, undefined, signal),
          barrier: mine.barriers.pass({ key, ...waiting }),
        };
        const end = async () => {
          await others.queues.put({ ...put, key: empty });
          const [item] = await others.queues.take({ key: full, atMost: 1, ...waiting });
          await item?.ack();
          await others.cells.write(key, { data: Buffer.from('1') }, signal);
          await others.barriers.lift(key, signal);
        };
        return { waits, end };
      }),
  },

  'ends no wait of a member that leaves a double barrier, unless the member is lost': {
    sessions: 'short',
    play: (stage) =>
      waitsGoOn(stage, async () => {
        const [mine, others] = [stage.one.backend.coordination, stage.other.backend.coordination];
        if (!mine || !others) return undefined;
        const { signal } = new AbortController();
        const request = { key: stage.key, count: 2, signal };
        const entering = Promise.all([mine.barriers.enter(request), others.barriers.enter(request)]);
        const [own, other] = await stage.within(entering, 'the way in');
        const left = own.leave(signal).catch((error: unknown) => {
          // A member that was to leave first was still inside when its session ended.
          if (!(error instanceof LockLostError)) throw error;
        });
        return { waits: { member: left }, end: () => other.leave(signal) };
      }),
  },
});
