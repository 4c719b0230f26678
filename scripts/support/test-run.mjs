import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, run } from './command.mjs';

const VITEST = fileURLToPath(new URL('node_modules/vitest/vitest.mjs', ROOT));
const REPORTER = fileURLToPath(new URL('count-reporter.mjs', import.meta.url));

/** Runs vitest; resolves with how many tests passed, failed and were skipped, and with a line for each failure. */
export async function runTests(args) {
  const dir = mkdtempSync(join(tmpdir(), 'test-counts-'));
  const env = { TEST_COUNTS: join(dir, 'counts.json') };
  const reporters = ['--reporter=default', `--reporter=${REPORTER}`];
  const code = await run('tests', [process.execPath, VITEST, 'run', ...reporters, ...args], { env });
  const counts = existsSync(env.TEST_COUNTS) ? JSON.parse(readFileSync(env.TEST_COUNTS, 'utf8')) : undefined;
  rmSync(dir, { recursive: true });
  return withFailureOf(code, counts ?? { passed: 0, failed: 0, skipped: 0, failures: [] });
}

/** A run that failed in a way no test stands for, such as a set-up that threw, counts as one failure. */
function withFailureOf(code, counts) {
  if (code === 0 || counts.failed > 0) return counts;
  return { ...counts, failed: 1, failures: [`the test runner ended with ${code}`] };
}
