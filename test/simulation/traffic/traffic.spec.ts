import { beforeAll, describe, expect, it } from 'vitest';
import { DECORATED_WAIT_MS } from '../../robustness/traffic/ask.js';
import { undecidedValues } from '../judges/values.js';
import { summaryOf } from '../model/summary.js';
import type { WorldPlan } from '../plan/plan.js';
import { examine } from '../search/examine.js';
import type { Backend } from '../search/examine.js';
import { SHORTCUTS } from '../../support/shortcuts.js';
import type { Shortcut } from '../../support/shortcuts.js';
import { bundleAll, zookeeperBackend } from '../search/zookeeper-backend.js';
import type { ProgramName } from './orders.js';
import { SOME_ORDERS } from './some-orders.js';

const APPS = 3;
const WORLD: WorldPlan = {
  servers: 3,
  apps: APPS,
  sessionTimeoutMs: 4_000,
  serverTimeoutsMs: [4_000, 4_000, 4_000],
  tickTimeMs: 500,
  containerCheckIntervalMs: 60_000,
  link: { meanUs: 500, slowShare: 0, slowUs: 0 },
  peerDelayMs: [0, 1],
  electionMs: [1, 1],
  syncLimitMs: [2_500, 2_500],
  expiryDelayMs: [0, 500],
  callbackUs: 20,
  clockRates: [1, 1, 1],
  wallSkewsMs: [0, 0, 0],
};

/** The entries that each program must have recorded, as `summaryOf` names them. */
const SUBSTANCE: Readonly<Record<ProgramName, readonly string[]>> = {
  locks: ['lock: granted', 'lock: not this time', 'lock: revoked', 'held: lock', 'write', 'final'],
  downgrade: ['held: downgraded'],
  warm: ['lock: granted', 'held: lock'],
  segments: ['lock: granted', 'held: lock'],
  permits: ['semaphore acquire: done', 'semaphore acquire: nothing', 'semaphore setPermits: done', 'held: permits'],
  campaign: ['election campaign: done', 'election proclaim: done', 'election leader: done', 'held: term'],
  leader: ['election poll: done', 'election resign: done', 'held: term'],
  cron: ['job fire: done', 'run', 'ran', 'held: run'],
  stock: ['stock deduct: done', 'stock deduct: nothing', 'stock refund: done', 'stock available: done'],
  queue: ['queue put: done', 'queue take: done', 'queue ack: done', 'queue nack: done', 'held: item'],
  barrier: ['barrier raise: done', 'barrier lift: done', 'barrier wait: done', 'barrier isUp: done'],
  doubleBarrier: ['double barrier enter: done', 'double barrier leave: done', 'double barrier go out: done'],
  values: ['counter add: done', 'value set: done', 'value compareAndSet: done', 'value compareAndSet: nothing'],
  looks: ['lock contenders: done', 'election observe: aborted'],
  crowd: ['lock: granted', 'held: lock'],
  sets: ['lock: granted', 'held: lock'],
};

interface Special {
  readonly without?: readonly Shortcut[];
  readonly localLine?: boolean;
  readonly apps?: number;
}

describe('the traffic without faults', () => {
  let backend: Backend;
  beforeAll(async () => {
    backend = zookeeperBackend(await bundleAll());
  });

  const run = (
    programs: Partial<Record<ProgramName, number>>,
    seconds: number,
    { without = [], localLine = true, apps = APPS }: Special = {},
  ) => {
    const { sessionTimeoutMs: _, ...orders } = SOME_ORDERS;
    const module = { ...orders.module, localLine };
    const traffic = { ...orders, module, seed: 1, basePath: '/locks', programs };
    return examine({ seed: 1, seconds, world: { ...WORLD, apps }, faults: [], without, traffic }, backend);
  };

  it.each(Object.entries(SUBSTANCE))('keeps all promises: %s', async (name, substance) => {
    const { run: made, history, examined } = await run({ [name]: 3 }, name === 'cron' ? 10 : 3);

    expect(examined.findings).toEqual([]);
    expect(undecidedValues(history)).toBe(0);
    expect(history.holds.filter(({ end }) => end === 'open')).toEqual([]);
    const counts = summaryOf(made.recorded);
    expect(substance.filter((what) => !counts[what])).toEqual([]);
  });

  it('records how long each call for a segment is ready to wait', async () => {
    const { history } = await run({ segments: 3 }, 3);
    const waitsMs = new Set(history.attempts.map(({ waitMs }) => waitMs));
    expect(waitsMs).toEqual(new Set([0, DECORATED_WAIT_MS, Math.max(...SOME_ORDERS.waitsMs)]));
    const refused = history.attempts.filter(({ outcome }) => outcome === 'not this time');
    expect(new Set(refused.map(({ waitMs }) => waitMs))).toEqual(new Set([0]));
  });

  it('keeps all promises with all programs at once', async () => {
    const programs = Object.fromEntries(Object.keys(SUBSTANCE).map((name) => [name, 1]));
    expect((await run(programs, 2)).examined.findings).toEqual([]);
  });

  it.each(SHORTCUTS)('keeps all promises without the shortcut, with another history: %s', async (shortcut) => {
    // Numbers follow each other if few processes take part.
    const areFew = shortcut === 'consecutive numbers';
    const special = { localLine: false, apps: areFew ? 2 : APPS };
    const [programs, seconds] = areFew ? [{ locks: 2 }, 20] : [{ locks: 6, sets: 1 }, 1];
    const usual = await run(programs, seconds, special);
    const plain = await run(programs, seconds, { ...special, without: [shortcut] });
    expect(plain.examined.findings).toEqual([]);
    expect(plain.examined.hash).not.toBe(usual.examined.hash);
  });

  it('keeps all promises without any shortcut', async () => {
    const programs = Object.fromEntries(Object.keys(SUBSTANCE).map((name) => [name, 1]));
    expect((await run(programs, 2, { without: SHORTCUTS })).examined.findings).toEqual([]);
  });
});
