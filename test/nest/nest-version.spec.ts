import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Test } from '@nestjs/testing';
import { LockModule } from 'nestjs-distributed-lock';
import { expect, it } from 'vitest';

/** The version of Nest that this test project declares: 11 or 12. */
const WANTED = process.env['NEST_MAJOR'];

it('the tests run on the NestJS of their project', async () => {
  let stack: string | undefined;
  const useFactory = () => (stack = new Error('who calls?').stack);
  await Test.createTestingModule({ providers: [{ provide: 'spy', useFactory }] }).compile();
  expect(majorsOn(stack!, 'core')).toEqual([WANTED]);
});

it('lib runs on that NestJS too', () => {
  // The error is thrown in a function that Nest calls, so its stack shows which Nest lib has loaded.
  const { stack } = errorOf(() => LockModule.forRoot({ backend: undefined!, name: '' }));
  expect(majorsOn(stack!, 'common')).toEqual([WANTED]);
});

/** Returns the major versions of the Nest package whose files are on a stack. */
function majorsOn(stack: string, name: 'common' | 'core'): string[] {
  const folders = stack.matchAll(new RegExp(`(/\\S*/node_modules/@nestjs/${name})/`, 'g'));
  return [...new Set([...folders].map(([, folder]) => majorOf(pathOf(folder!))))];
}

function pathOf(location: string): string {
  return location.startsWith('/') ? location : fileURLToPath(location.slice(location.indexOf('file:')));
}

function majorOf(folder: string): string {
  const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8')) as { version: string };
  return version.split('.')[0]!;
}

function errorOf(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}
