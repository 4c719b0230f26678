import { writeFileSync } from 'node:fs';
import { relative } from 'node:path';

const MOST_LINES = 4;
const MOST_CHARACTERS = 600;

/**
 * A vitest reporter that writes to the file TEST_COUNTS names how many tests passed, failed and were skipped, and what
 * each failure was.
 */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, skipped: 0 };
    const failures = unhandledErrors.map((error) => told('outside of the tests', error));
    for (const module of modules) {
      const file = relative('.', module.moduleId);
      for (const test of module.children.allTests()) {
        const { state, errors } = test.result();
        // A test that never came to an end has not passed.
        if (state === 'failed' || state === 'pending') failures.push(told(`${file} > ${test.fullName}`, errors?.[0]));
        else counts[state]++;
      }
      // A file that could not be loaded, or whose hooks failed, has no failed test to be counted by.
      for (const error of module.errors()) failures.push(told(file, error));
      for (const suite of module.children.allSuites()) {
        for (const error of suite.errors()) failures.push(told(`${file} > ${suite.fullName}`, error));
      }
    }
    writeFileSync(process.env.TEST_COUNTS, JSON.stringify({ ...counts, failed: failures.length, failures }));
  }
}

/** The first lines only say that a command failed; those after them, why. All on one line, so that it can be found again. */
function told(where, error) {
  const lines = (error?.message ?? 'has not come to an end').split('\n').filter((line) => line.trim() !== '');
  return `${where}: ${lines.slice(0, MOST_LINES).join(' | ').slice(0, MOST_CHARACTERS)}`;
}
