import { fileURLToPath } from 'node:url';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { expect, inject, it } from 'vitest';
import { run } from './command.js';

const { dir, tarball } = inject('packed');
const ATTW = fileURLToPath(new URL('../../node_modules/@arethetypeswrong/cli/dist/index.js', import.meta.url));

it('has nothing for publint to say', async () => {
  const { messages, pkg } = await publint({ pkgDir: dir, level: 'suggestion', strict: true, pack: false });
  expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
});

/*
 * Profile node16 leaves out only TypeScript's old `node10` resolution, which cannot read `exports`; `esm-only` would
 * leave out CommonJS as well. `cjs-resolves-to-esm` is what this package means to do: the Node that it asks for can
 * `require` an ES module, and installed-app.spec.ts does. No look-up of @types: the package brings its own types.
 */
it('has types that are right however it is imported', async () => {
  const flags = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--no-definitely-typed'];
  const report = await run(dir, process.execPath, ATTW, tarball, ...flags, '--format', 'json');
  // Its exit code says whether there is a problem; `run` rejects with the report then.
  const { analysis } = JSON.parse(report) as { analysis: { entrypoints: object } };
  expect(Object.keys(analysis.entrypoints)).toEqual(['.', './testing', './package.json']);
});
