import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';

const TEST_RUN = new URL('../../../scripts/support/test-run.mjs', import.meta.url).href;

/** Vitest begins with the larger file. */
const PASSES = `it('passes', () => {}); it('fails', () => { throw new Error('no'); }); // ${'long'.repeat(200)}`;

const hanging = (started: string) => `
  import { writeFileSync } from 'node:fs';
  writeFileSync(${JSON.stringify(started)}, '');
  setTimeout(() => process.exit(1), 120_000);
  await new Promise(() => {});
`;

/** Runs the folder's tests, and kills the run when `started` is there. */
const killed = (dir: string, started: string) => `
  import { existsSync, watch } from 'node:fs';
  import { runTests } from '${TEST_RUN}';
  const limit = new AbortController();
  const look = () => existsSync(${JSON.stringify(started)}) && limit.abort();
  const watcher = watch(${JSON.stringify(dir)}, look);
  const counts = await runTests(['--root', ${JSON.stringify(dir)}, '--globals', '--no-file-parallelism'], limit.signal);
  watcher.close();
  console.log('counts ' + JSON.stringify(counts));
`;

it('a run that is killed tells what has passed, what has failed, and what was running', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'test-run-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const started = join(dir, 'started');
  writeFileSync(join(dir, 'ends.spec.mjs'), PASSES);
  writeFileSync(join(dir, 'hangs.spec.mjs'), hanging(started));
  const child = spawn(process.execPath, ['--input-type=module', '-e', killed(dir, started)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGTERM'));
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  const counts = JSON.parse(/^counts (.*)$/m.exec(output)![1]!) as { failures: string[] };
  expect(counts).toMatchObject({ passed: 1, failed: 3 });
  expect(counts.failures).toEqual([
    expect.stringContaining('ends.spec.mjs > fails: no'),
    expect.stringContaining('hangs.spec.mjs: was running when the run ended'),
    'the run was killed, for its time was over',
  ]);
});
