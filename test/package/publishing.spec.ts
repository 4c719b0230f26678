import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { expect, inject, it } from 'vitest';
import { run } from './command.js';

const { dir, tarball } = inject('packed');
const ATTW = fileURLToPath(new URL('../../node_modules/@arethetypeswrong/cli/dist/index.js', import.meta.url));

it('has no findings of publint', async () => {
  const { messages, pkg } = await publint({ pkgDir: dir, level: 'suggestion', strict: true, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

it('has correct types for every way to import it, also without `exports`', async () => {
  const flags = ['--profile', 'strict', '--no-definitely-typed', '--exclude-entrypoints', './package.json'];
  const report = await run(dir, process.execPath, ATTW, tarball, ...flags, '--format', 'json');
  // The exit code says whether there is a problem; `run` then rejects with the report.
  const { analysis } = JSON.parse(report) as { analysis: { entrypoints: object } };
  expect(Object.keys(analysis.entrypoints)).toEqual([
    '.',
    './testing',
    './redis',
    './etcd',
    './terminus',
    './metrics',
    './opentelemetry',
    './dashboard',
  ]);
});
