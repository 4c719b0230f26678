import { writeFileSync } from 'node:fs';

/** A vitest reporter that writes how many tests passed, failed and were skipped to the file TEST_COUNTS names. */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) counts[outcomeOf(test)]++;
      // A file that could not be loaded, or whose hooks failed, has no failed test to be counted by.
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
    }
    writeFileSync(process.env.TEST_COUNTS, JSON.stringify(counts));
  }
}

/** A test that never came to an end has not passed. */
function outcomeOf(test) {
  const { state } = test.result();
  return state === 'pending' ? 'failed' : state;
}
