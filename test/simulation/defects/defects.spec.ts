import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAst } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { applyEdits, edited } from '../../support/edit.js';
import { ROOT } from '../../support/repository-root.js';
import { SHORTCUT_SWITCHES } from '../../support/shortcuts.js';
import { COMPILED } from '../places.js';
import { bundleAll } from '../search/zookeeper-backend.js';
import { DEFECTS } from './defects.js';
import { INVISIBLE } from './out-of-reach.js';

// A copy, because other specs load the compiled library at the same time.
const copy = mkdtempSync(join(tmpdir(), 'defects-'));
beforeAll(() => cpSync(join(COMPILED, 'lib'), copy, { recursive: true }));
afterAll(() => rmSync(copy, { recursive: true }));

const compiled = (file: string) => readFileSync(join(copy, file), 'utf8');
const timesIn = (text: string, part: string) => text.split(part).length - 1;
const sourcesBelow = (folder: string) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(join(ROOT, folder, file), 'utf8'));

describe('a defect', () => {
  it.each(DEFECTS)('matches exactly one place in the library: $name', ({ edits }) => {
    const sound = edits.map(({ file }) => compiled(file));
    for (const { file, replace } of edits) expect(timesIn(compiled(file), replace), replace).toBe(1);
    {
      using _planted = applyEdits(edits, copy);
      for (const { file, by } of edits) {
        expect(compiled(file)).toContain(by);
        expect(() => parseAst(compiled(file))).not.toThrow();
      }
    }
    expect(edits.map(({ file }) => compiled(file))).toEqual(sound);
  });

  it("keeps the place of each shortcut's switch", () => {
    for (const { edits } of DEFECTS) {
      const files = new Set(SHORTCUT_SWITCHES.map(({ file }) => file));
      for (const file of files) {
        const both = [...edits, ...SHORTCUT_SWITCHES].filter((edit) => edit.file === file);
        expect(both.reduce(edited, compiled(file))).not.toBe(compiled(file));
      }
    }
  });

  it.each(DEFECTS.filter(({ failsIn }) => failsIn !== undefined))(
    'names an existing test that notices it: $name',
    ({ failsIn = { spec: '', test: '' } }) => {
      const path = join(ROOT, failsIn.spec);
      expect(existsSync(path), failsIn.spec).toBe(true);
      // Tests that several specs share are in test/support.
      const sources = [readFileSync(path, 'utf8'), ...sourcesBelow('test/support')];
      expect(sources.some((source) => source.includes(failsIn.test))).toBe(true);
    },
  );

  it('exists for each name in INVISIBLE', () => {
    const names = DEFECTS.map(({ name }) => name);
    expect(Object.keys(INVISIBLE).filter((name) => !names.includes(name))).toEqual([]);
  });

  it('changes the code that simulated processes run', async () => {
    const untouched = DEFECTS.flatMap(({ edits }) => edits.map(({ file }) => ({ file, replace: '', by: '' })));
    expect(await bundleAll(untouched)).toEqual(await bundleAll());
    const [defect] = DEFECTS;
    expect(await bundleAll(defect!.edits)).not.toEqual(await bundleAll());
  });

  it('has a unique name, and needs and finds something', () => {
    expect(new Set(DEFECTS.map(({ name }) => name)).size).toBe(DEFECTS.length);
    const idle = DEFECTS.filter(({ needs, finds }) =>
      [needs.traffic, needs.faults, finds].some((all) => all.length === 0),
    );
    expect(idle).toEqual([]);
  });
});
