import { Inject, Module } from '@nestjs/common';
import type { DynamicModule } from '@nestjs/common';
import { checkFields } from '../../contract/check.js';
import { needParentheses } from '../../decorators/decorated-place.js';
import { withConnection } from '../../lock.module.js';
import { LOCK_MODULE_FIELDS, withoutUndefined } from '../../lock.options.js';
import type { LockModuleExtras, LockModuleOptions } from '../../lock.options.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../../service/lock-service.token.js';
import { LockTesting } from './lock-testing.js';
import { LOCK_TESTING_FIELDS, MODULE_DEFAULTS } from './lock-testing.options.js';
import type { LockTestingOptions } from './lock-testing.options.js';

/** The options of `LockTesting`, and those of `LockModule.forRoot` except `backend`. */
export interface LockTestingModuleOptions
  extends LockTestingOptions, Omit<LockModuleOptions, 'backend'>, LockModuleExtras {}

const FIELDS = [
  ...LOCK_TESTING_FIELDS,
  ...LOCK_MODULE_FIELDS.filter((field) => field !== 'backend'),
  'isGlobal',
  'name',
  'exceptionFilter',
];

const PREFIX = 'nestjs-distributed-lock:testing:';

/** Returns the injection token of a connection's `LockTesting`: the class itself for the default connection. */
export function getLockTestingToken(name: string = DEFAULT_CONNECTION): typeof LockTesting | symbol {
  return name === DEFAULT_CONNECTION ? LockTesting : Symbol.for(PREFIX + name);
}

/** Injects the `LockTesting` of a connection by name. */
export function InjectLockTesting(name?: string): PropertyDecorator & ParameterDecorator {
  needParentheses('@InjectLockTesting()', arguments);
  return Inject(getLockTestingToken(name));
}

/**
 * A replacement of `LockModule` in the unit tests of an application: the same services and decorators, on locks in
 * memory. A test controls them with the connection's `LockTesting`: `app.get(LockTesting)`. It excludes no other
 * process, so it is for tests only.
 *
 * Differences from `LockModule`:
 * - `service` has a default, which is `'test'`.
 * - The application starts also with mode `'unavailable'`, unless `connectOnStart` is `'required'`.
 * - `app.close()` waits for no holder, unless `drainTimeoutMs` is set.
 */
@Module({})
export class LockTestingModule {
  /** @throws LockConfigurationError that names the wrong option, when the application is created */
  static forRoot(options: LockTestingModuleOptions = {}): DynamicModule {
    const { mode, keys, longestWaitMs, isGlobal, name, exceptionFilter, ...settings } = options;
    const testing = { mode, keys, longestWaitMs };
    const useFactory = () => {
      checkFields('LockTestingModule options', options, FIELDS);
      return new LockTesting(testing);
    };
    const handle = { provide: getLockTestingToken(name), useFactory };
    const definition = { module: LockTestingModule, providers: [handle], exports: [handle.provide] };
    return withConnection(definition, { isGlobal, name, exceptionFilter }, (connectionName) => ({
      provide: getLockServiceToken(connectionName),
      inject: [handle.provide],
      useFactory: (locks: LockTesting) =>
        locks.open({ ...MODULE_DEFAULTS, ...withoutUndefined(settings) }, connectionName),
    }));
  }
}
