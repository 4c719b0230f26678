import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { FEWEST_FILES, LAYERS } from './layers.js';
import { readSourceTree } from './source-tree.js';
import { findViolations, layerOf } from './violations.js';

const tree = readSourceTree(fileURLToPath(new URL('../../lib', import.meta.url)));

describe('the layers of lib', () => {
  it('import what their table allows, and nothing else', () => {
    expect(findViolations(tree)).toEqual([]);
  });

  it('each have files, so the test above has checked them', () => {
    expect(new Set([...tree.keys()].map(layerOf))).toEqual(new Set(Object.keys(LAYERS)));
    expect(tree.size).toBeGreaterThanOrEqual(FEWEST_FILES);
    const imports = [...tree.values()].flat();
    expect(imports.length).toBeGreaterThan(2 * tree.size);
    expect(imports.map(({ specifier }) => specifier)).toContain('node-zookeeper-client');
  });

  it('import the driver in one file of the client only', () => {
    const naming = [...tree].filter(([, imports]) => imports.some((one) => one.specifier === 'node-zookeeper-client'));
    expect(naming.map(([path]) => layerOf(path))).toEqual(['zookeeper/client']);
  });
});
