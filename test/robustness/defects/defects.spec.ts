import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMPILED } from '../places.js';
import { DEFECTS } from './defects.js';
import { plant } from './plant.js';

const compiled = (file: string) => readFileSync(join(COMPILED, 'lib', file), 'utf8');

describe('a defect', () => {
  it.each(DEFECTS)('still has its place in the library: $name', (defect) => {
    const sound = defect.edits.map(({ file }) => compiled(file));
    {
      using _planted = plant(defect);
      for (const { file, by } of defect.edits) expect(compiled(file)).toContain(by);
    }
    expect(defect.edits.map(({ file }) => compiled(file))).toEqual(sound);
  });
});
