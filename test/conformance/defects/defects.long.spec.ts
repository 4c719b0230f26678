import { describe, expect, it } from 'vitest';
import { defectNamed } from './defects.js';
import { findDefect } from './find-defect.js';

const LIMIT_MS = 120_000;

/** One defect of each kind. `npm run conformance:mutants` runs all of them. */
const SAMPLE = [
  'no session ever expires',
  'ephemeral nodes stay when their session ends',
  'two connections speak for one session',
  'sequences count only sequential children',
  'a failed transaction is half applied',
  'a watch fires again and again',
  'an event comes after the answer to what caused it',
  'set-watches is ignored',
  'watches outlive their connection',
  'permissions are not looked at',
].map(defectNamed);

describe('a defect of the embedded server', () => {
  it.each(SAMPLE)('is detected: $name', { timeout: LIMIT_MS }, async (defect) => {
    expect(await findDefect(defect)).toBeDefined();
  });

  it('that ends the server does not count as detected', { timeout: LIMIT_MS }, async () => {
    const crash = { file: 'testing/embedded/requests/write.js', replace: 'expected !== current', by: 'process.exit()' };
    const defect = { name: 'fallen over', group: 'changes', edits: [crash] };
    await expect(findDefect(defect)).rejects.toThrow(/has ended the server/);
  });

  it('is not reported where there is none', { timeout: LIMIT_MS }, async () => {
    expect(await findDefect({ name: 'no defect', group: 'catching-up', edits: [] })).toBeUndefined();
  });
});
