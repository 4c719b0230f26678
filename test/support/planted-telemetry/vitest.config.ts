import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import type { TestProjectConfiguration } from 'vitest/config';
import type { Reporter, TestCase } from 'vitest/node';
import type { Plugin } from 'vite';
import base from '../../../vitest.config.js';
import { edited } from '../edit.js';
import type { Edit } from '../edit.js';
import { DEFECTS, SOUND } from './defects.js';

/** The result of one test with one defect. */
export interface Outcome {
  readonly project: string;
  readonly test: string;
  readonly state: string;
  readonly message: string;
}

const LIB = fileURLToPath(new URL('../../../lib/', import.meta.url));

/** Breaks the library as it is loaded. The files stay as they are. */
function broken(edit: Edit): Plugin {
  return {
    name: 'planted-defect',
    enforce: 'pre',
    transform: (code, id) => (id === LIB + edit.file ? edited(code, edit) : undefined),
  };
}

/** Writes what became of each test into the file that the environment names. */
class Outcomes implements Reporter {
  readonly #outcomes: Outcome[] = [];

  onTestCaseResult(test: TestCase): void {
    const { state, errors = [] } = test.result();
    if (state === 'skipped') return;
    const message = errors.map((error) => error.message).join('\n');
    this.#outcomes.push({ project: test.project.name, test: test.name, state, message });
  }

  onTestRunEnd(): void {
    writeFileSync(process.env['OUTCOMES'] ?? '', JSON.stringify(this.#outcomes));
  }
}

const specs = [...new Set(DEFECTS.map(({ spec }) => spec))];
const projectOf = (name: string, include: string[], plugins: Plugin[] = []): TestProjectConfiguration => ({
  extends: true,
  plugins,
  test: { name, include, env: { NEST_MAJOR: '12' } },
});

export default defineConfig({
  ...base,
  root: fileURLToPath(new URL('../../../', import.meta.url)),
  test: {
    ...base.test,
    maxWorkers: 2,
    // Far beyond what a busy machine needs: a test that ran out of time is no finding.
    testTimeout: 300_000,
    reporters: [new Outcomes()],
    testNamePattern: new RegExp(DEFECTS.map(({ test }) => escaped(test)).join('|')),
    projects: [
      projectOf(SOUND, specs),
      ...DEFECTS.map((defect) => projectOf(defect.name, [defect.spec], [broken(defect)])),
    ],
  },
});

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
