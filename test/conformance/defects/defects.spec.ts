import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../support/edit.js';
import { breakLibrary } from './broken-library.js';
import { defectNamed, DEFECTS } from './defects.js';
import { findDefect } from './find-defect.js';

const LIMIT_MS = 120_000;

/** Some of each kind; all of them are what `npm run conformance:mutants` is for. */
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
  it('is known by its name, and has one that can be a directory', () => {
    const names = DEFECTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[\w ,-]+$/.test(name))).toEqual([]);
    expect(names.length).toBeGreaterThanOrEqual(25);
  });

  it('still breaks something, all of them', () => {
    using sound = breakLibrary({ name: 'none', group: 'changes', edits: [] });
    for (const { edits } of DEFECTS) {
      const planting = () => applyEdits(edits, sound.lib)[Symbol.dispose]();
      expect(planting).not.toThrow();
    }
  });

  it('whose text is gone is an error', () => {
    using sound = breakLibrary({ name: 'gone', group: 'changes', edits: [] });
    const edit = { file: 'testing/embedded/database/database.js', replace: 'no such text', by: '' };
    expect(() => applyEdits([edit], sound.lib)).toThrow(/does not contain: no such text/);
  });

  it.each(SAMPLE)('is found out: $name', { timeout: LIMIT_MS }, async (defect) => {
    expect(await findDefect(defect)).toBeDefined();
  });

  it('that ends the server is none that was found', { timeout: LIMIT_MS }, async () => {
    const crash = { file: 'testing/embedded/requests/write.js', replace: 'expected !== current', by: 'process.exit()' };
    const defect = { name: 'fallen over', group: 'changes', edits: [crash] };
    await expect(findDefect(defect)).rejects.toThrow(/has ended the server/);
  });

  it('is not found where there is none', { timeout: LIMIT_MS }, async () => {
    expect(await findDefect({ name: 'no defect', group: 'catching-up', edits: [] })).toBeUndefined();
  });
});
