/**
 * Measures what events cost: the rate of calls with listeners, divided by the rate without any. The backend is in
 * memory, so that nothing but this package is measured.
 * `npm run bench:events -- [--rounds 9] [--seconds 0.4]`
 */
import { parseArgs } from 'node:util';
import { MemoryBackend } from '../lib/memory/memory.backend.js';
import { channels } from '../lib/contract/channels.js';
import type { EventChannel } from '../lib/contract/channels.js';
import { LockService } from '../lib/service/lock.service.js';
import { median } from './support/statistics.js';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '0.4' } },
});
const [rounds, windowMs] = [Number(values.rounds), 1_000 * Number(values.seconds)];

const CALLERS = 64;

/** The calls that are measured. */
const SHAPES = {
  'uncontended, one caller': { callers: 1 },
  'hand-over in memory, 64 callers': { callers: CALLERS },
} as const;

/** The listeners that are measured. Each returns how to end them. */
const LISTENERS = {
  none: () => () => {},
  'LockEvents: acquired, released': (locks) => listen(locks, ['acquired', 'released']),
  'LockEvents: all of an acquisition': (locks) =>
    listen(locks, ['waiting', 'acquired', 'missed', 'released', 'suspended', 'resumed', 'revoking', 'overdue', 'lost']),
  'all channels, and a context around the work': () => listenRaw(),
} satisfies Record<string, (locks: LockService) => () => void>;

type ListenerName = keyof typeof LISTENERS;

function listen(locks: LockService, types: readonly Parameters<LockService['events']['on']>[0][]): () => void {
  const ends = types.map((type) => locks.events.on(type, () => {}));
  return () => ends.forEach((end) => end());
}

function listenRaw(): () => void {
  const all = Object.values(channels) as unknown as EventChannel<never>[];
  const listener = () => {};
  const around = (event: { around(wrapper: <T>(work: () => T) => T): void }) => event.around((work) => work());
  all.forEach((one) => one.subscribe(listener));
  channels.hold.subscribe(around);
  return () => {
    all.forEach((one) => one.unsubscribe(listener));
    channels.hold.unsubscribe(around);
  };
}

function open(): LockService {
  return new LockService(new MemoryBackend(), {
    connectionName: 'default',
    waitMs: 60_000,
    drainTimeoutMs: 0,
    connectOnStart: 'required',
  });
}

/** Returns the number of calls per second. */
async function rateOf(locks: LockService, callers: number): Promise<number> {
  const begun = performance.now();
  const until = begun + windowMs;
  let calls = 0;
  const call = async () => {
    while (performance.now() < until) {
      await locks.using('k', () => {});
      calls++;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  return (1_000 * calls) / (performance.now() - begun);
}

for (const [title, { callers }] of Object.entries(SHAPES)) {
  const rates = new Map<ListenerName, number[]>();
  // One more round at first: code is cold then.
  for (let round = -1; round < rounds; round++) {
    for (const name of Object.keys(LISTENERS) as ListenerName[]) {
      const locks = open();
      const end = LISTENERS[name](locks);
      const rate = await rateOf(locks, callers);
      end();
      await locks.onApplicationShutdown();
      if (round >= 0) rates.set(name, [...(rates.get(name) ?? []), rate]);
    }
  }
  console.log(title);
  const base = median(rates.get('none') ?? []);
  for (const [name, measured] of rates) {
    const rate = median(measured);
    const us = 1_000_000 / rate - 1_000_000 / base;
    const cost = name === 'none' ? '' : `, ${(rate / base).toFixed(2)} of the rate, ${us.toFixed(1)} us more a call`;
    console.log(`  ${name}: ${Math.round(rate)} calls a second${cost}`);
  }
}
