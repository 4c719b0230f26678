import { describe, expect, it } from 'vitest';
import { describe as describeValue } from '../../lib/contract/check.js';
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
      warnShutdownHooks: true,
      onContention: 'throw',
      onLost: 'throw',
      localLine: true,
      keepMs: 0,
      warnHeldMs: 60_000,
      maxHeldMs: Infinity,
      overdueGraceMs: 5_000,
    });
  });

  it('treat a field that is undefined as absent', () => {
    const absent = { localLine: undefined, keepMs: undefined };
    const options = { backend, waitMs: undefined, drainTimeoutMs: undefined, connectOnStart: undefined, ...absent };
    expect(resolve(options)).toEqual({ backend, ...DEFAULTS });
  });

  it('win over the defaults', () => {
    const held = { warnHeldMs: 1, maxHeldMs: 2, overdueGraceMs: 3, onContention: 'skip', onLost: 'ignore' };
    const session = { waitMs: 0, drainTimeoutMs: 1, connectOnStart: 'background', warnShutdownHooks: false };
    const options = { backend, ...session, ...held, localLine: true, keepMs: 7 };
    expect(resolve(options)).toEqual(options);
    const strict = { ...options, localLine: false, keepMs: 0 };
    expect(resolve(strict)).toEqual(strict);
  });

  it.each([false, 0, Infinity])('may set no limit to how long a lease is held: %o', (none) => {
    const { warnHeldMs, maxHeldMs } = resolve({ backend, warnHeldMs: none, maxHeldMs: none });
    expect([warnHeldMs, maxHeldMs]).toEqual([Infinity, Infinity]);
  });

  it('may wait without a limit', () => {
    expect(resolve({ backend, waitMs: Infinity }).waitMs).toBe(Infinity);
  });

  it.each(['shop', 'shop-2.eu_west', '7', 'SHOP'])('may name the service %s', (service) => {
    expect(resolve({ backend, service }).service).toBe(service);
  });

  it('keep the backend unchanged', () => {
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
    ...['', 'a/b', '/shop', '..', 'my shop', 'größe', 7, null].map((service): [object, string] => [
      { service },
      `service must be a name of letters, digits, '.', '_' and '-', such as 'shop', got ${describeValue(service)}`,
    ]),
    [{ waitMs: -1 }, 'waitMs must be a number of milliseconds, 0 or more, got the number -1'],
    [{ waitMs: NaN }, 'waitMs must be a number of milliseconds, 0 or more, got the number NaN'],
    [{ waitMs: '5s' }, 'waitMs must be a number of milliseconds, 0 or more, got the string "5s"'],
    [{ waitMs: null }, 'waitMs must be a number of milliseconds, 0 or more, got null'],
    [{ drainTimeoutMs: -5 }, 'drainTimeoutMs must be a number of milliseconds, 0 or more, got the number -5'],
    [{ warnShutdownHooks: 'no' }, `warnShutdownHooks must be true or false, got the string "no"`],
    [{ connectOnStart: true }, "connectOnStart must be 'required' or 'background', got the boolean true"],
    [{ connectOnStart: 'no' }, `connectOnStart must be 'required' or 'background', got the string "no"`],
    [{ localLine: 'yes' }, 'localLine must be true or false, got the string "yes"'],
    [{ localLine: null }, 'localLine must be true or false, got null'],
    [{ keepMs: -1 }, 'keepMs must be a number of milliseconds, from 0 to 2147483647, got the number -1'],
    [{ keepMs: Infinity }, 'keepMs must be'],
    [{ keepMs: 2 ** 31 }, 'keepMs must be'],
    ...['warnHeldMs', 'maxHeldMs'].flatMap((field): [object, string][] => [
      [{ [field]: -1 }, `${field} must be a number of milliseconds, or false for no limit, got the number -1`],
      [{ [field]: NaN }, `${field} must be a number of milliseconds, or false for no limit, got the number NaN`],
      [{ [field]: '5m' }, `${field} must be a number of milliseconds, or false for no limit, got the string "5m"`],
      [{ [field]: true }, `${field} must be a number of milliseconds, or false for no limit, got the boolean true`],
    ]),
    [{ overdueGraceMs: -1 }, 'overdueGraceMs must be a number of milliseconds, 0 or more, got the number -1'],
    [
      { onContention: 'wait' },
      `onContention must be 'throw', 'skip' or a function of the context, got the string "wait"`,
    ],
    [{ onLost: 'skip' }, `onLost must be 'throw' or 'ignore', got the string "skip"`],
    [{ localLine: false, keepMs: 5 }, 'keepMs must be 0 where localLine is false, got the number 5'],
    [
      { waitMS: 5 },
      'LockModule options: unknown field "waitMS" (known: backend, service, waitMs, drainTimeoutMs, connectOnStart, warnShutdownHooks, onContention, onLost, localLine, keepMs, warnHeldMs, maxHeldMs, overdueGraceMs)',
    ],
  ])('is named: %o', (wrong, message) => {
    const resolving = () => resolve({ backend, ...wrong });
    expect(resolving).toThrow(LockConfigurationError);
    expect(resolving).toThrow(message);
  });

  it.each([[undefined], [null], ['zk:2181'], [[backend]]])('is refused when the options are %o', (options) => {
    expect(() => resolve(options)).toThrow(/^LockModule options must be an object, got /);
  });
});
