import { ConfigurableModuleBuilder, Module } from '@nestjs/common';
import type { ConfigurableModuleAsyncOptions, DynamicModule, FactoryProvider } from '@nestjs/common';
import { check } from './contract/check.js';
import { LockCoreModule } from './lock-core.module.js';
import { resolveLockModuleOptions } from './lock.options.js';
import type { LockModuleExtras, LockModuleOptions } from './lock.options.js';
import { LeaderElectionService } from './elections/leader-election.service.js';
import { getLeaderElectionToken } from './elections/leader-election.token.js';
import { CronRunsService } from './schedule/cron-runs.service.js';
import { getCronRunsToken } from './schedule/cron-runs.token.js';
import { Scheduler } from './schedule/scheduler.js';
import { LockService } from './service/lock.service.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from './service/lock-service.token.js';

/** `useFactory`, `useClass` (with a `createLockOptions()`) or `useExisting`, and the extras. */
export type LockModuleAsyncOptions = ConfigurableModuleAsyncOptions<LockModuleOptions, 'createLockOptions'> &
  LockModuleExtras;

const OPTIONS = Symbol('LOCK_MODULE_OPTIONS');

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<LockModuleOptions>({ optionsInjectionToken: OPTIONS })
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createLockOptions')
  .setExtras<LockModuleExtras>({ isGlobal: true, name: DEFAULT_CONNECTION }, withConnection)
  .build();

/**
 * Registers one connection: one session, one `LockService`, any number of locks. Import it once, in the root module;
 * for several connections give all but one a `name`. Every application that is created gets a backend of its own.
 */
@Module({})
export class LockModule extends ConfigurableModuleClass {
  /** @throws LockConfigurationError that names the wrong option, when the application is created */
  static override forRoot(options: LockModuleOptions & LockModuleExtras): DynamicModule {
    return super.forRoot(options);
  }

  /** For options that come out of the container. `isGlobal` and `name` stand beside `useFactory`, not in its result. */
  static override forRootAsync(options: LockModuleAsyncOptions): DynamicModule {
    return super.forRootAsync(options);
  }
}

function withConnection(definition: DynamicModule, extras: LockModuleExtras): DynamicModule {
  const { isGlobal = true, name = DEFAULT_CONNECTION } = extras;
  check(typeof isGlobal === 'boolean', 'LockModule: isGlobal', isGlobal, 'true or false');
  check(typeof name === 'string' && name !== '', 'LockModule: name', name, 'text that is not empty');
  const service = serviceProvider(name);
  const cronRuns = cronRunsProvider(name);
  const elections = leaderElectionProvider(name);
  return {
    ...definition,
    global: isGlobal,
    imports: [...(definition.imports ?? []), LockCoreModule],
    providers: [...(definition.providers ?? []), service, cronRuns, elections],
    exports: [service.provide, cronRuns.provide, elections.provide],
  };
}

function serviceProvider(connectionName: string): FactoryProvider<LockService> {
  return {
    provide: getLockServiceToken(connectionName),
    inject: [OPTIONS],
    useFactory: (options: LockModuleOptions) => {
      const { backend, ...resolved } = resolveLockModuleOptions(options);
      return new LockService(backend.create(), { connectionName, ...resolved });
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

function leaderElectionProvider(connectionName: string): FactoryProvider<LeaderElectionService> {
  return {
    provide: getLeaderElectionToken(connectionName),
    inject: [getLockServiceToken(connectionName)],
    useFactory: (locks: LockService) => new LeaderElectionService(locks),
  };
}
