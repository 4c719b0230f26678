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

/** What is said of the world, and what `LockModule.forRoot` takes but for the backend. */
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

/** The injection token of the `LockTesting` of a connection: the class itself for the default one. */
export function getLockTestingToken(name: string = DEFAULT_CONNECTION): typeof LockTesting | symbol {
  return name === DEFAULT_CONNECTION ? LockTesting : Symbol.for(PREFIX + name);
}

/** Injects the `LockTesting` of a connection by name. */
export function InjectLockTesting(name?: string): PropertyDecorator & ParameterDecorator {
  needParentheses('@InjectLockTesting()', arguments);
  return Inject(getLockTestingToken(name));
}

/**
 * Stands in for `LockModule` in the unit tests of an application: the same services and the same decorators, on locks in
 * memory. What happens to them a test says with the connection's `LockTesting`: `app.get(LockTesting)`. Excludes nobody
 * in another process, so it is for tests only.
 *
 * Unlike with `LockModule`, there is a default `service`, which is `'test'`; the application starts also with mode
 * `'unavailable'`, unless `connectOnStart` is `'required'`; and `app.close()` waits for no holder, unless `drainTimeoutMs` says so.
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
