import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const LONGEST_WAIT_MS = 5_000;

/**
 * Resolves when a process that was sent SIGSTOP stands still. The signal is only the request: on a busy machine its
 * threads run on for some milliseconds, in which a server still answers.
 */
export async function untilStopped(pid: number): Promise<void> {
  const startedAt = performance.now();
  while (threadsOf(pid).some(isRunning) && performance.now() - startedAt < LONGEST_WAIT_MS) await pause(5);
}

/** The `stat` files of its threads; none where the system has no /proc, and there the signal has to be enough. */
function threadsOf(pid: number): string[] {
  const dir = `/proc/${pid}/task`;
  return existsSync(dir) ? readdirSync(dir).map((thread) => `${dir}/${thread}/stat`) : [];
}

function isRunning(statFile: string): boolean {
  try {
    // "123 (a name, of anything) T …": the state comes after the name.
    const stat = readFileSync(statFile, 'utf8');
    return !/^[TZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    // A thread that has ended meanwhile.
    return false;
  }
}
