import type { History } from '../model/history.js';
import type { Finding } from './finding.js';

/** Workers that were closed ended by themselves, with success, and without a warning. */
export function checkProcesses({ ends, warnings }: Pick<History, 'ends' | 'warnings'>): Finding[] {
  const bad = ends.filter(({ end, exitCode }) => end === 'had to be killed' || (end === 'exited' && exitCode !== 0));
  return [
    ...bad.map((one) => ({
      check: 'processes',
      message:
        one.end === 'exited'
          ? `${one.process} ended with ${one.exitCode}`
          : `${one.process} did not end by itself: something kept it running`,
      records: [one],
    })),
    ...warnings.map((warning) => ({ check: 'processes', message: `a warning of ${warning}`, records: [] })),
  ];
}
