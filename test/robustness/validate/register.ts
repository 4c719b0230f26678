import type { History, Hold, RegisterWrite } from '../model/history.js';
import { byKey } from '../../../lib/testing/backend-faults/fault-history.js';
import { wasEndedEarly } from './closed-sessions.js';
import type { Finding } from './finding.js';

/**
 * The register never accepted an older token, and never refused a holder whose lease was still held when the refusal
 * arrived.
 */
export function checkRegister(history: Pick<History, 'writes' | 'answers' | 'holds' | 'faults'>): Finding[] {
  return [...byKey(history.writes).flatMap(staleWrites), ...refusedHolders(history)];
}

/** Computed from the accepted writes alone, not by the rule of the register that accepted them. */
function staleWrites(writes: readonly RegisterWrite[]): Finding[] {
  const found: Finding[] = [];
  let newestWrite: RegisterWrite | undefined;
  let newestRead: RegisterWrite | undefined;
  for (const write of writes.filter((one) => one.accepted)) {
    const before = write.mode === 'read' ? [newestWrite] : [newestWrite, newestRead];
    const newer = before.find((other) => other && other.token > write.token);
    if (newer) found.push({ check: 'register', message: staleMessage(write, newer), records: [newer, write] });
    if (write.mode === 'read') newestRead = newest(newestRead, write);
    else newestWrite = newest(newestWrite, write);
  }
  return found;
}

function newest(one: RegisterWrite | undefined, other: RegisterWrite): RegisterWrite {
  return one && one.token > other.token ? one : other;
}

function staleMessage(write: RegisterWrite, newer: RegisterWrite): string {
  return `"${write.key}": a ${write.mode} with token ${write.token} was accepted after a ${newer.mode} with ${newer.token}`;
}

function refusedHolders({ holds, answers, faults }: Pick<History, 'answers' | 'holds' | 'faults'>): Finding[] {
  const byId = new Map(holds.map((hold) => [hold.id, hold]));
  return answers.flatMap((answer) => {
    const hold = byId.get(answer.hold);
    const stood = hold !== undefined && !answer.accepted && hold.seenUntil >= answer.answeredAt;
    if (!stood || wasEndedEarly(hold, faults)) return [];
    return [{ check: 'register', message: refusedMessage(hold), records: [hold, answer] }];
  });
}

function refusedMessage(hold: Hold): string {
  return `"${hold.key}": ${hold.process} was refused with token ${hold.token} while its lease still stood`;
}
