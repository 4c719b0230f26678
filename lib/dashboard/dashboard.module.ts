import { Module } from '@nestjs/common';
import type {
  ConfigurableModuleAsyncOptions,
  DynamicModule,
  FactoryProvider,
  ModuleMetadata,
  OnApplicationShutdown,
  OnModuleInit,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModuleRef } from '@nestjs/core';
import { check } from '../contract/check.js';
import { Dashboard } from './dashboard.js';
import { controllerOf } from './dashboard.controller.js';
import { resolveDashboardExtras, resolveDashboardOptions } from './dashboard.options.js';
import type { LockDashboardExtras, LockDashboardOptions } from './dashboard.options.js';

/** The options of `forRootAsync`: `useFactory` with `inject` and `imports`, and the extras. */
export type LockDashboardAsyncOptions = Pick<
  ConfigurableModuleAsyncOptions<LockDashboardOptions>,
  'imports' | 'inject'
> &
  Required<Pick<ConfigurableModuleAsyncOptions<LockDashboardOptions>, 'useFactory'>> &
  LockDashboardExtras;

/** Starts and ends a page with its application. */
class DashboardLife implements OnModuleInit, OnApplicationShutdown {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  constructor(
    private readonly dashboard: Dashboard,
    private readonly discovery: DiscoveryService,
    private readonly moduleRef: ModuleRef,
  ) {}

  /** Called by Nest. @throws LockConfigurationError for a connection that is not registered */
  onModuleInit(): Promise<void> {
    return this.dashboard.start(this.discovery, this.moduleRef);
  }

  /** Called by Nest. */
  onApplicationShutdown(): void {
    this.dashboard.stop();
  }
}

/**
 * A page that shows the locks of the cluster, live: holders and wait queues, leaders, jobs, queues, stock, and this
 * instance. It is a controller of the application at `/locks`, on Express and Fastify, behind the application's own
 * guards, prefix and versions.
 *
 * - Without `authorize` and `guards` it refuses every request, unless `NODE_ENV` is `development` or `test`.
 * - It changes nothing unless `actions` says so.
 * - Before the first request it costs nothing. However many look at it, a process surveys the cluster once a second.
 */
@Module({})
export class LockDashboardModule {
  /** Registers the page. @throws LockConfigurationError that names the wrong option */
  static forRoot(options: LockDashboardOptions & LockDashboardExtras = {}): DynamicModule {
    check(typeof options === 'object' && options !== null, 'LockDashboardModule options', options, 'an object');
    const { path, guards, ...others } = options;
    return page({ path, guards }, [], { inject: [], useFactory: () => others });
  }

  /**
   * Registers the page with options that come from the container. `path` and `guards` go beside `useFactory`, not into
   * its result.
   */
  static forRootAsync(options: LockDashboardAsyncOptions): DynamicModule {
    const { useFactory, inject = [], imports = [], path, guards } = Object(options) as LockDashboardAsyncOptions;
    check(typeof useFactory === 'function', 'LockDashboardModule.forRootAsync', options, 'given useFactory');
    return page({ path, guards }, imports, { inject, useFactory });
  }
}

function page(
  extras: LockDashboardExtras,
  imports: NonNullable<ModuleMetadata['imports']>,
  { inject, useFactory }: Pick<LockDashboardAsyncOptions, 'inject' | 'useFactory'>,
): DynamicModule {
  const { path, guards } = resolveDashboardExtras(extras);
  const dashboard = Symbol('LOCK_DASHBOARD');
  const made: FactoryProvider<Dashboard> = {
    provide: dashboard,
    inject: inject ?? [],
    useFactory: async (...dependencies: unknown[]) =>
      new Dashboard(resolveDashboardOptions(await useFactory(...dependencies)), guards.length > 0),
  };
  const life: FactoryProvider<DashboardLife> = {
    provide: Symbol('LOCK_DASHBOARD_LIFE'),
    inject: [dashboard, DiscoveryService, ModuleRef],
    useFactory: (...parts: [Dashboard, DiscoveryService, ModuleRef]) => new DashboardLife(...parts),
  };
  return {
    module: LockDashboardModule,
    imports: [DiscoveryModule, ...imports],
    controllers: [controllerOf({ path, guards, dashboard })],
    providers: [made, life],
  };
}
