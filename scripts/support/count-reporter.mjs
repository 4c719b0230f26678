import { renameSync, writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const MOST_LINES = 4;
const MOST_CHARACTERS = 600;

/**
 * A vitest reporter. It writes to the file TEST_COUNTS names: the numbers of tests, the failures, and the files being run.
 * It writes after each file, for a run that is killed has no end.
 */
export default class CountReporter {
  #counts = none();
  #running = new Set();

  onTestModuleQueued(module) {
    this.#running.add(nameOf(module));
    this.#write();
  }

  onTestModuleEnd(module) {
    this.#running.delete(nameOf(module));
    count(module, this.#counts);
    this.#write();
  }

  /** Counts once more: a file whose worker died had no end of its own. */
  onTestRunEnd(modules, unhandledErrors) {
    this.#running.clear();
    this.#counts = none();
    this.#counts.failures = unhandledErrors.map((error) => told('outside of the tests', error));
    for (const module of modules) count(module, this.#counts);
    this.#write();
  }

  #write() {
    const counts = { ...this.#counts, failed: this.#counts.failures.length, running: [...this.#running] };
    // In one step: the run may be killed at any time.
    const file = process.env.TEST_COUNTS;
    writeFileSync(`${file}.new`, JSON.stringify(counts));
    renameSync(`${file}.new`, file);
  }
}

const none = () => ({ passed: 0, skipped: 0, failures: [] });

const fileOf = (module) => relative('.', module.moduleId);

/** Two projects may run the same file. */
const nameOf = (module) => [module.project.name, fileOf(module)].filter((part) => part !== '').join(' ');

function count(module, counts) {
  const file = fileOf(module);
  for (const test of module.children.allTests()) {
    const { state, errors } = test.result();
    // A test that never came to an end has not passed.
    if (state === 'failed' || state === 'pending')
      counts.failures.push(told(`${file} > ${test.fullName}`, errors?.[0]));
    else counts[state]++;
  }
  // A file that could not be loaded, or whose hooks failed, has no failed test to be counted by.
  for (const error of module.errors()) counts.failures.push(told(file, error));
  for (const suite of module.children.allSuites()) {
    for (const error of suite.errors()) counts.failures.push(told(`${file} > ${suite.fullName}`, error));
  }
}

/** The first lines only say that a command failed; those after them, why. All on one line, so that it can be found again. */
function told(where, error) {
  const lines = (error?.message ?? 'has not come to an end').split('\n').filter((line) => line.trim() !== '');
  return `${where}: ${lines.slice(0, MOST_LINES).join(' | ').slice(0, MOST_CHARACTERS)}`;
}
