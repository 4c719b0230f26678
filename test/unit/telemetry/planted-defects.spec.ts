import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { DEFECTS, SOUND } from '../../support/planted-telemetry/defects.js';
import type { Outcome } from '../../support/planted-telemetry/vitest.config.js';
import { ROOT } from '../../support/repository-root.js';

// alone: one of the longest files.

/** The library is loaded anew for each defect. */
const LIMIT_MS = 900_000;
const CONFIG = 'test/support/planted-telemetry/vitest.config.ts';

let outcomes: readonly Outcome[];

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'planted-telemetry-'));
  const file = join(folder, 'outcomes.json');
  // The settings of the run that this one is a part of are not for the other one.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST'));
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const run = promisify(execFile)(process.execPath, [vitest, 'run', '--config', CONFIG], {
    cwd: ROOT,
    env: { ...Object.fromEntries(own), OUTCOMES: file },
    maxBuffer: 2 ** 26,
  });
  // It fails: that is what it is for.
  await run.catch(() => {});
  outcomes = JSON.parse(readFileSync(file, 'utf8')) as readonly Outcome[];
  rmSync(folder, { recursive: true });
}, LIMIT_MS);

const resultOf = (project: string, test: string) =>
  outcomes.find((outcome) => outcome.project === project && outcome.test === test);

describe('the locks as operators see them', () => {
  it.each(DEFECTS)('$name: found by "$test"', ({ name, test, message }) => {
    expect(resultOf(name, test)).toMatchObject({ state: 'failed', message: expect.stringMatching(message) as unknown });
  });

  it.each([...new Set(DEFECTS.map(({ test }) => test))])('is sound without a defect: "%s"', (test) => {
    expect(resultOf(SOUND, test)).toMatchObject({ state: 'passed' });
  });
});
