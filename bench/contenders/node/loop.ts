import type { LoopOrder, LoopReport } from '../../crew/orders.js';
import { setTimeout as pause } from 'node:timers/promises';
import { monotonicNs } from '../../support/clock.js';
import { stay } from '../../support/stay.js';
import type { Locker, OpenContender } from './contender.js';
import { CpuMarks } from './cpu-marks.js';
import { TenureLog } from './tenure-log.js';

/** Lets callers acquire and release locks until the window has ended. */
export async function runLoop(contender: OpenContender, order: LoopOrder): Promise<LoopReport> {
  const { keys, locks, callers } = order;
  const calls: Call[] = [];
  for (let caller = 0; caller < callers; caller++) {
    const key = keys[caller % keys.length]!;
    const locker = order.areKeysNew ? undefined : await contender.locker(key);
    const lockerOf = (count: number) => locker ?? contender.locker(`${key}/${count}`);
    calls.push({ lockerOf, lock: locks[caller % locks.length]! });
  }
  const log = new TenureLog();
  const marks = new CpuMarks(order.beginAt, order.endAt);
  await Promise.all(calls.map((call) => callOn(call, order, log, marks)));
  const report = { marks: marks.finish() };
  log.write(order.file);
  return report;
}

/** One caller: its locker for each acquisition, and the number of its key in the file. */
interface Call {
  readonly lockerOf: (count: number) => Locker | Promise<Locker>;
  readonly lock: number;
}

async function callOn(
  { lockerOf, lock }: Call,
  { insideMs, pauseMs, lingers, readShare, endAt }: LoopOrder,
  log: TenureLog,
  marks: CpuMarks,
): Promise<void> {
  let count = 0;
  let asked = monotonicNs();
  // Every caller asks at least once, however late it is: otherwise it has proven nothing.
  do {
    const stayMs = count++ < lingers.times ? Math.max(insideMs, lingers.ms) : insideMs;
    const isRead = readShare > 0 && Math.random() < readShare;
    const given = lockerOf(count);
    const locker = 'acquire' in given ? given : await given;
    const held = await locker.acquire(isRead);
    const from = monotonicNs();
    if (stayMs > 0) await stay(stayMs);
    const to = monotonicNs();
    await locker.release(held);
    const released = monotonicNs();
    log.add(lock, isRead, asked, from, to, released);
    if (released >= marks.nextAt) marks.takeIfDue(released);
    if (pauseMs > 0) await pause(pauseMs);
    asked = pauseMs > 0 ? monotonicNs() : released;
  } while (asked < endAt);
}
