import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../lib/contract/errors.js';
import { DEFAULTS, resolveLockModuleOptions } from '../../lib/lock.options.js';
import type { LockModuleOptions } from '../../lib/lock.options.js';
import { memory } from '../../lib/memory/memory.backend.js';

const backend = memory();
const resolve = (options: unknown) => resolveLockModuleOptions(options as LockModuleOptions);

describe('the module’s options', () => {
  it('have a default for all but the backend', () => {
    expect(resolve({ backend })).toEqual({
      backend,
      waitMs: 10_000,
      drainTimeoutMs: 10_000,
      connectOnStart: 'required',
    });
  });

  it('take a field that is undefined for absent', () => {
    const options = { backend, waitMs: undefined, drainTimeoutMs: undefined, connectOnStart: undefined };
    expect(resolve(options)).toEqual({ backend, ...DEFAULTS });
  });

  it('win over the defaults', () => {
    const options = { backend, waitMs: 0, drainTimeoutMs: 1, connectOnStart: 'background' };
    expect(resolve(options)).toEqual(options);
  });

  it('may wait without a limit', () => {
    expect(resolve({ backend, waitMs: Infinity }).waitMs).toBe(Infinity);
  });

  it('keep the backend as it is', () => {
    expect(resolve({ backend }).backend).toBe(backend);
  });

  it('cannot change the defaults of others', () => {
    expect(Object.isFrozen(DEFAULTS)).toBe(true);
  });
});

describe('a wrong option', () => {
  it.each([
    [{ backend: undefined }, 'backend must be a backend such as zookeeper({…}), got undefined'],
    [{ backend: null }, 'backend must be a backend such as zookeeper({…}), got null'],
    [{ backend: 'zookeeper' }, 'backend must be a backend such as zookeeper({…}), got the string "zookeeper"'],
    [{ backend: memory }, 'backend must be a backend such as zookeeper({…}), got function'],
    [{ backend: { create: 1 } }, 'backend must be a backend such as zookeeper({…}), got an object (Object)'],
    [{ waitMs: -1 }, 'waitMs must be a number of milliseconds, 0 or more, got the number -1'],
    [{ waitMs: NaN }, 'waitMs must be a number of milliseconds, 0 or more, got the number NaN'],
    [{ waitMs: '5s' }, 'waitMs must be a number of milliseconds, 0 or more, got the string "5s"'],
    [{ waitMs: null }, 'waitMs must be a number of milliseconds, 0 or more, got null'],
    [{ drainTimeoutMs: -5 }, 'drainTimeoutMs must be a number of milliseconds, 0 or more, got the number -5'],
    [{ connectOnStart: true }, "connectOnStart must be 'required' or 'background', got the boolean true"],
    [{ connectOnStart: 'no' }, `connectOnStart must be 'required' or 'background', got the string "no"`],
    [
      { waitMS: 5 },
      'LockModule options: unknown field "waitMS" (known: backend, waitMs, drainTimeoutMs, connectOnStart)',
    ],
  ])('is named: %o', (wrong, message) => {
    const resolving = () => resolve({ backend, ...wrong });
    expect(resolving).toThrow(LockConfigurationError);
    expect(resolving).toThrow(message);
  });

  it.each([[undefined], [null], ['zk:2181'], [[backend]]])('is everything, when the options are %o', (options) => {
    expect(() => resolve(options)).toThrow(/^LockModule options must be an object, got /);
  });
});
