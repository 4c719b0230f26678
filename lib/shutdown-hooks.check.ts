import { isMainThread } from 'node:worker_threads';
import { Inject, Injectable, Logger } from '@nestjs/common';
import type { OnApplicationBootstrap, OnModuleDestroy } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { lockServicesOf } from './discovered.js';
import { connectionOf } from './service/lock.service.js';
import type { LockService } from './service/lock.service.js';

// main.ts may enable the hooks after `listen()`, and await other things in between. Scripts have ended by then.
const CHECK_AFTER_MS = 10_000;

const logger = new Logger('LockService');

/**
 * Warns once when SIGTERM would end the process without `app.close()`, which leaves its keys locked until their session
 * ends. Nest's hooks and the application's own handlers are listeners of the process.
 */
@Injectable()
export class ShutdownHooksCheck implements OnApplicationBootstrap, OnModuleDestroy {
  // No #private members here: Nest may be configured to wrap its providers in a Proxy, which has none.
  private timer: NodeJS.Timeout | undefined;

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  onApplicationBootstrap(): void {
    // Signals reach the main thread only.
    if (!isMainThread || this.lockedMs() === 0) return;
    this.timer = setTimeout(() => this.check(), CHECK_AFTER_MS).unref();
  }

  onModuleDestroy(): void {
    clearTimeout(this.timer);
  }

  private check(): void {
    const lockedMs = this.lockedMs();
    if (lockedMs === 0 || process.listenerCount('SIGTERM') > 0) return;
    logger.warn(
      `SIGTERM ends this process without app.close(): the keys that it holds stay locked for up to ${lockedMs} ms. ` +
        'Call app.enableShutdownHooks() in main.ts, or set warnShutdownHooks: false in LockModule',
    );
  }

  /** The time for which the keys of this process remain locked when it dies, in milliseconds. */
  private lockedMs(): number {
    return Math.max(0, ...lockServicesOf(this.discovery).map(lockedAfterDeathMs));
  }
}

/** The time for which the keys of one connection remain locked; 0 where no warning is wanted. */
function lockedAfterDeathMs(locks: LockService): number {
  const { backend, options } = connectionOf(locks);
  const { warnShutdownHooks = true } = options;
  return warnShutdownHooks ? (backend.lockedAfterDeathMs ?? 0) : 0;
}
