import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkNest11 } from '../../nest-11/installed.js';

/** The manifest of a package with this version. */
function manifestOf(version: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'nest-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const manifest = join(folder, 'package.json');
  writeFileSync(manifest, JSON.stringify({ version }));
  return manifest;
}

describe('the tests on NestJS 11', () => {
  it('do not begin without packages of their own', () => {
    expect(() => checkNest11('/nowhere/package.json')).toThrow(
      'test/nest-11 has no NestJS of its own: npm ci --prefix test/nest-11',
    );
  });

  it('do not begin on another version', () => {
    expect(() => checkNest11(manifestOf('12.5.1'))).toThrow('test/nest-11 has NestJS 12.5.1, and must have 11');
    expect(() => checkNest11(manifestOf('11.1.6'))).not.toThrow();
  });
});
