import { ConfigurableModuleBuilder, Global, Inject, Module, Optional } from '@nestjs/common';
import type { ConfigurableModuleAsyncOptions, DynamicModule, FactoryProvider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { check } from './contract/check.js';
import { LockConfigurationError } from './contract/errors.js';
import { getCoordinationToken, CoordinationService } from './coordination/coordination.service.js';
import { CronExplorer } from './cron.explorer.js';
import { closeConnections } from './discovered.js';
import { ElectionExplorer } from './election.explorer.js';
import { exceptionFilterExports, exceptionFilterProviders, exceptionFilterSetting } from './exception-filter.js';
import { LockExplorer } from './lock.explorer.js';
import { resolveLockModuleOptions } from './lock.options.js';
import type { LockModuleExtras, LockModuleOptions } from './lock.options.js';
import { LeaderElectionService, getLeaderElectionToken } from './elections/leader-election.service.js';
import { CronRunsService, getCronRunsToken } from './schedule/cron-runs.service.js';
import { Scheduler } from './schedule/scheduler.js';
import { LockService } from './service/lock.service.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from './service/lock-service.token.js';
import { ShutdownHooksCheck } from './shutdown-hooks.check.js';

/**
 * The options of `forRootAsync`: `useFactory`, `useClass` (with a `createLockOptions()`) or `useExisting`, and the
 * extras.
 */
export type LockModuleAsyncOptions = ConfigurableModuleAsyncOptions<LockModuleOptions, 'createLockOptions'> &
  LockModuleExtras;

/** The token of a connection's options, inside the module that registers it. */
export const OPTIONS = Symbol('LOCK_MODULE_OPTIONS');

// Provided by the modules that forRoot and forRootAsync make, and not by the class itself.
const REGISTERED = Symbol('LOCK_MODULE_REGISTERED');
const REGISTRATION = { provide: REGISTERED, useValue: true };

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<LockModuleOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createLockOptions')
  .setExtras<LockModuleExtras>(
    { isGlobal: true, name: DEFAULT_CONNECTION, exceptionFilter: undefined },
    (definition, extras) =>
      withConnection(
        { ...definition, providers: [...(definition.providers ?? []), REGISTRATION] },
        extras,
        serviceProvider,
      ),
  )
  .build();

/**
 * The providers that an application needs once, however many connections it registers. Global, so that it is
 * initialised first.
 */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [LockExplorer, CronExplorer, ElectionExplorer, Scheduler, ShutdownHooksCheck, ...exceptionFilterProviders],
  exports: [Scheduler, ...exceptionFilterExports],
})
class LockCoreModule {}

/**
 * Registers one connection: one session, one `LockService`, any number of locks. Import it once, in the root module.
 * For several connections give all but one a `name`. Every application that is created gets a backend of its own.
 */
@Module({})
export class LockModule extends ConfigurableModuleClass {
  /**
   * @internal
   * @throws LockConfigurationError when a module imports the class itself
   */
  constructor(@Optional() @Inject(REGISTERED) isRegistered?: true) {
    super();
    if (isRegistered) return;
    throw new LockConfigurationError(
      'a module imports LockModule itself, which registers nothing: import LockModule.forRoot({ backend: zookeeper({…}) }) ' +
        'in the root module, and nothing in the others, which see its services',
    );
  }

  /**
   * Registers a connection.
   * @throws LockConfigurationError that names the wrong option; for most of them when the application is created
   */
  static override forRoot(options: LockModuleOptions & LockModuleExtras): DynamicModule {
    check(typeof options === 'object' && options !== null, 'LockModule options', options, 'an object');
    return super.forRoot(options);
  }

  /**
   * Registers a connection whose options come from the container. `isGlobal` and `name` go beside `useFactory`, not
   * into its result.
   */
  static override forRootAsync(options: LockModuleAsyncOptions): DynamicModule {
    const source = options?.useFactory ?? options?.useClass ?? options?.useExisting;
    check(source !== undefined, 'LockModule.forRootAsync', options, 'given useFactory, useClass or useExisting');
    return super.forRootAsync(options);
  }
}

/**
 * Returns a module that registers one connection: its `LockService`, however that is made, and the services that belong
 * to it.
 * @throws LockConfigurationError that names the wrong extra
 */
export function withConnection(
  definition: DynamicModule,
  extras: LockModuleExtras,
  serviceOf: (connectionName: string) => FactoryProvider<LockService>,
): DynamicModule {
  const { isGlobal = true, name = DEFAULT_CONNECTION, exceptionFilter } = extras;
  check(typeof isGlobal === 'boolean', 'LockModule: isGlobal', isGlobal, 'true or false');
  check(typeof name === 'string' && name !== '', 'LockModule: name', name, 'text that is not empty');
  const own = [serviceOf(name), cronRunsProvider(name), coordinationProvider(name), leaderElectionProvider(name)];
  const settings = exceptionFilter === undefined ? [] : [exceptionFilterSetting(name, exceptionFilter)];
  return {
    ...definition,
    global: isGlobal,
    imports: [...(definition.imports ?? []), DiscoveryModule, LockCoreModule],
    providers: [...(definition.providers ?? []), ...settings, ...own],
    exports: [...(definition.exports ?? []), ...own.map(({ provide }) => provide)],
  };
}

function serviceProvider(connectionName: string): FactoryProvider<LockService> {
  return {
    provide: getLockServiceToken(connectionName),
    inject: [OPTIONS, DiscoveryService],
    useFactory: (options: LockModuleOptions, discovery: DiscoveryService) => {
      const { backend, ...resolved } = resolveLockModuleOptions(options);
      const closeAll = () => closeConnections(discovery);
      return new LockService(backend.create(), { connectionName, closeAll, ...resolved });
    },
  };
}

function cronRunsProvider(connectionName: string): FactoryProvider<CronRunsService> {
  return {
    provide: getCronRunsToken(connectionName),
    inject: [getLockServiceToken(connectionName), Scheduler],
    useFactory: (locks: LockService, scheduler: Scheduler) => new CronRunsService(locks, scheduler),
  };
}

function coordinationProvider(connectionName: string): FactoryProvider<CoordinationService> {
  return {
    provide: getCoordinationToken(connectionName),
    inject: [getLockServiceToken(connectionName)],
    useFactory: (locks: LockService) => new CoordinationService(locks),
  };
}

function leaderElectionProvider(connectionName: string): FactoryProvider<LeaderElectionService> {
  return {
    provide: getLeaderElectionToken(connectionName),
    inject: [getLockServiceToken(connectionName)],
    useFactory: (locks: LockService) => new LeaderElectionService(locks),
  };
}
