import type { LoopOrder, LoopReport } from '../../crew/orders.js';
import { monotonicNs } from '../../support/clock.js';
import { stay } from '../../support/stay.js';
import type { Locker, OpenContender } from './contender.js';
import { CpuMarks } from './cpu-marks.js';
import { TenureLog } from './tenure-log.js';

/** Lets callers acquire and release locks until the window has ended. */
export async function runLoop(contender: OpenContender, order: LoopOrder): Promise<LoopReport> {
  const { keys, locks, callers } = order;
  const lockers: Locker[] = [];
  for (let caller = 0; caller < callers; caller++) lockers.push(await contender.locker(keys[caller % keys.length]!));
  const log = new TenureLog();
  const marks = new CpuMarks(order.beginAt, order.endAt);
  await Promise.all(lockers.map((locker, caller) => callOn(locker, locks[caller % locks.length]!, order, log, marks)));
  const report = { marks: marks.finish() };
  log.write(order.file);
  return report;
}

async function callOn(
  locker: Locker,
  lock: number,
  { insideMs, lingers, readShare, endAt }: LoopOrder,
  log: TenureLog,
  marks: CpuMarks,
): Promise<void> {
  let count = 0;
  let asked = monotonicNs();
  // Every caller asks at least once, however late it is: otherwise it has proven nothing.
  do {
    const stayMs = count++ < lingers.times ? Math.max(insideMs, lingers.ms) : insideMs;
    const isRead = readShare > 0 && Math.random() < readShare;
    const held = await locker.acquire(isRead);
    const from = monotonicNs();
    if (stayMs > 0) await stay(stayMs);
    const to = monotonicNs();
    await locker.release(held);
    const released = monotonicNs();
    log.add(lock, isRead, asked, from, to, released);
    if (released >= marks.nextAt) marks.takeIfDue(released);
    asked = released;
  } while (asked < endAt);
}
