/**
 * Measures what events cost: the CPU time of a call with listeners, beside that of a call without any. The backend is in
 * memory, so that nothing but this package is measured. CPU time, garbage collection included, is the same on a busy
 * machine; the ways of listening take turns all the same.
 * `npm run bench:events -- [--rounds 9] [--seconds 0.4]`
 */
import { parseArgs } from 'node:util';
import { Accumulators } from '../lib/metrics/accumulators.js';
import { MemoryBackend } from '../lib/memory/memory.backend.js';
import { channels } from '../lib/contract/channels.js';
import type { EventChannel } from '../lib/contract/channels.js';
import { LockService } from '../lib/service/lock.service.js';
import { LockTelemetry } from '../lib/telemetry/lock-telemetry.js';
import { MetricNames } from '../lib/telemetry/metric-names.js';
import { BUCKETS } from '../lib/telemetry/metric-table.js';
import { TELEMETRY_DEFAULTS } from '../lib/telemetry/telemetry.options.js';
import { median } from './support/statistics.js';

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '9' }, seconds: { type: 'string', default: '0.4' } },
});
const [rounds, windowMs] = [Number(values.rounds), 1_000 * Number(values.seconds)];

const CALLERS = 64;
const LOOKS = 20_000_000;

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
  'metrics of nestjs-distributed-lock/metrics': (locks) => measure(locks),
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

/** Measures as `LockMetricsModule` does, until the connection is closed. */
function measure(locks: LockService): () => void {
  const names = new MetricNames(TELEMETRY_DEFAULTS);
  const telemetry = new LockTelemetry(locks, names, new Accumulators(BUCKETS), () => {});
  return () => telemetry.applicationEnds();
}

function open(): LockService {
  return new LockService(new MemoryBackend(), {
    connectionName: 'default',
    waitMs: 60_000,
    drainTimeoutMs: 0,
    connectOnStart: 'required',
  });
}

/** Returns the CPU time of a call, in microseconds. */
async function costOf(locks: LockService, callers: number): Promise<number> {
  const before = process.cpuUsage();
  const until = performance.now() + windowMs;
  let calls = 0;
  const call = async () => {
    while (performance.now() < until) {
      await locks.using('k', () => {});
      calls++;
    }
  };
  await Promise.all(Array.from({ length: callers }, call));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/** Returns the time of one look at a channel without subscribers, in nanoseconds. */
function lookNs(): number {
  const all = Object.values(channels);
  let heard = 0;
  const began = performance.now();
  for (let look = 0; look < LOOKS; look++) if (all[look % all.length]!.hasSubscribers) heard++;
  if (heard > 0) throw new Error('somebody listens');
  return (1e6 * (performance.now() - began)) / LOOKS;
}

lookNs();
console.log(`a look at a channel that nobody listens to: ${lookNs().toFixed(1)} ns`);
for (const [title, { callers }] of Object.entries(SHAPES)) {
  const costs = new Map<ListenerName, number[]>();
  // One more round at first: code is cold then.
  for (let round = -1; round < rounds; round++) {
    for (const name of Object.keys(LISTENERS) as ListenerName[]) {
      const locks = open();
      const end = LISTENERS[name](locks);
      const cost = await costOf(locks, callers);
      end();
      await locks.onApplicationShutdown();
      if (round >= 0) costs.set(name, [...(costs.get(name) ?? []), cost]);
    }
  }
  console.log(title);
  const base = median(costs.get('none') ?? []);
  for (const [name, measured] of costs) {
    const cost = median(measured);
    const more =
      name === 'none' ? '' : `, ${(cost - base).toFixed(1)} us more, ${(base / cost).toFixed(2)} of the rate`;
    console.log(`  ${name}: ${cost.toFixed(1)} us a call${more}`);
  }
}
