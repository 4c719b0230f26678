import { describe, expect, it } from 'vitest';
import { PROJECTS } from '../../vitest.config.js';
import { filesBelow } from './repository.js';

const folders = Object.values(PROJECTS).flat();

describe('the test projects', () => {
  it('run every spec file', () => {
    const specs = filesBelow('test').filter((path) => /\.(spec|test)\.[cm]?tsx?$/.test(path));
    const left = specs.filter(
      (path) => !path.endsWith('.spec.ts') || !folders.some((dir) => path.startsWith(`${dir}/`)),
    );
    expect(left).toEqual([]);
  });

  it.each(Object.entries(PROJECTS))('have something to run: %s', (_name, its) => {
    expect(its.flatMap(filesBelow).filter((path) => path.endsWith('.spec.ts'))).not.toEqual([]);
  });

  it('leave no spec file outside of test', () => {
    expect(['lib', 'scripts', 'sample-app'].flatMap(filesBelow).filter((path) => /\.(spec|test)\./.test(path))).toEqual(
      [],
    );
  });
});
