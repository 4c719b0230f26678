import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './command.mjs';

const VITEST = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', ROOT));
const REPORTER = fileURLToPath(new URL('count-reporter.mjs', import.meta.url));

const NOTHING = { passed: 0, failed: 0, skipped: 0, failures: [], running: [] };

/**
 * Runs vitest; resolves with how many tests passed, failed and were skipped, and with a line for each failure.
 * @param signal kills the run; each file that was being run is a failure then
 */
export async function runTests(args, signal) {
  const dir = mkdtempSync(join(tmpdir(), 'test-counts-'));
  const env = { TEST_COUNTS: join(dir, 'counts.json') };
  const reporters = ['--reporter=default', `--reporter=${REPORTER}`];
  const argv = [process.execPath, VITEST, 'run', ...reporters, ...args];
  const code = await run('tests', argv, { env, inOwnGroup: signal !== undefined, signal });
  const counts = existsSync(env.TEST_COUNTS) ? JSON.parse(readFileSync(env.TEST_COUNTS, 'utf8')) : NOTHING;
  rmSync(dir, { recursive: true });
  return withFailureOf(code, withRunning(counts, signal?.aborted));
}

/** A file without an end counts as one failure, and so does a run without one. */
function withRunning({ running, ...counts }, isKilled = false) {
  const failures = [
    ...counts.failures,
    ...running.map((file) => `${file}: was running when the run ended`),
    ...(isKilled ? ['the run was killed, for its time was over'] : []),
  ];
  return { ...counts, failed: failures.length, failures };
}

/** A run that failed in a way no test stands for, such as a set-up that threw, counts as one failure. */
function withFailureOf(code, counts) {
  if (code === 0 || counts.failed > 0) return counts;
  return { ...counts, failed: 1, failures: [`the test runner ended with ${code}`] };
}
