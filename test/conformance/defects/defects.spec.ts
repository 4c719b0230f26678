import { describe, expect, it } from 'vitest';
import { applyEdits } from '../../support/edit.js';
import { breakLibrary } from './broken-library.js';
import { DEFECTS } from './defects.js';

describe('a defect of the embedded server', () => {
  it('has a unique name that can be a directory', () => {
    const names = DEFECTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[\w ,-]+$/.test(name))).toEqual([]);
    expect(names.length).toBeGreaterThanOrEqual(25);
  });

  it('still changes the library', () => {
    using sound = breakLibrary({ name: 'none', group: 'changes', edits: [] });
    for (const { edits } of DEFECTS) {
      const planting = () => applyEdits(edits, sound.lib)[Symbol.dispose]();
      expect(planting).not.toThrow();
    }
  });

  it('is refused when the text to replace is missing', () => {
    using sound = breakLibrary({ name: 'gone', group: 'changes', edits: [] });
    const edit = { file: 'testing/embedded/database/database.js', replace: 'no such text', by: '' };
    expect(() => applyEdits([edit], sound.lib)).toThrow(/does not contain: no such text/);
  });
});
