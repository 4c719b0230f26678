import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const LONGEST_WAIT_MS = 5_000;

/**
 * Resolves when a process that was sent SIGSTOP has stopped. The signal is only a request: on a busy machine the
 * threads run on for some milliseconds, in which a server still answers.
 */
export async function untilStopped(pid: number): Promise<void> {
  const startedAt = performance.now();
  while (threadsOf(pid).some(isRunning) && performance.now() - startedAt < LONGEST_WAIT_MS) await pause(5);
}

/**
 * Returns the `stat` files of the process's threads. Empty on a system without /proc, where the signal has to suffice.
 */
function threadsOf(pid: number): string[] {
  const dir = `/proc/${pid}/task`;
  return existsSync(dir) ? readdirSync(dir).map((thread) => `${dir}/${thread}/stat`) : [];
}

function isRunning(statFile: string): boolean {
  try {
    // "123 (an arbitrary name) T …": the state follows the name.
    const stat = readFileSync(statFile, 'utf8');
    return !/^[TZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    // The thread has ended meanwhile.
    return false;
  }
}
