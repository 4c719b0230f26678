import { writeFileSync } from 'node:fs';
import type { History } from '../model/history.js';
import { historyFile } from '../places.js';
import type { Finding } from '../validate/finding.js';

const MOST_SHOWN = 10;

/** Returns one line about a run without findings. */
export function summaryOf(history: History): string {
  const { holds, attempts, writes, faults, ends } = history;
  const processes = `${ends.length} processes`;
  const refused = writes.filter((write) => !write.accepted).length;
  const lost = holds.filter((hold) => hold.end === 'lost').length;
  return [
    `${titleOf(history)}: ${holds.length} holds by ${processes} (${lost} lost)`,
    `${attempts.length} acquisitions`,
    `${writes.length} writes (${refused} refused)`,
    `${faults.length} faults`,
    `longest wait ${Math.round(longestWaitMs(history))} ms`,
  ].join(', ');
}

/** Returns everything about a run with findings. Also writes the whole history to a file. */
export function failureOf(history: History, findings: readonly Finding[], seconds: number): string {
  const file = writeHistory(history, findings);
  const { scenario, seed, backend = 'zookeeper' } = history;
  const backendOption = backend === 'zookeeper' ? '' : `--backend ${backend} `;
  return [
    summaryOf(history),
    `${findings.length} findings:`,
    ...findings.slice(0, MOST_SHOWN).map(describeFinding),
    ...(findings.length > MOST_SHOWN ? [`  … and ${findings.length - MOST_SHOWN} more`] : []),
    `history: ${file}`,
    `again: npm run robustness -- ${backendOption}--scenario ${scenario} --seed ${seed} --seconds ${seconds}`,
  ].join('\n');
}

/** Writes the whole history of a run and its findings to a file. */
export function writeHistory(history: History, findings: readonly Finding[]): string {
  const file = historyFile(`${history.backend ?? 'zookeeper'}-${history.scenario}`, history.seed);
  writeFileSync(file, toJson({ findings, ...history }, 1));
  return file;
}

function describeFinding({ check, message, records }: Finding): string {
  return [`  [${check}] ${message}`, ...records.map((record) => `      ${toJson(record)}`)].join('\n');
}

function titleOf({ scenario, seed, backend = 'zookeeper' }: History): string {
  return `${backend}: ${scenario}, seed ${seed}`;
}

function longestWaitMs({ attempts }: History): number {
  const waits = attempts
    .filter(({ outcome }) => outcome === 'granted')
    .map(({ askedAt, answeredAt = askedAt }) => answeredAt - askedAt);
  return waits.reduce((longest, wait) => Math.max(longest, wait), 0);
}

function toJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, (_, inner: unknown) => (typeof inner === 'bigint' ? String(inner) : inner), indent);
}
