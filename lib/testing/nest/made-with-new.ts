import { LockConfigurationError } from '../../contract/errors.js';
import { lockedMethodsOf } from '../../decorators/locked-method.js';
import { LeaderElectionService } from '../../elections/leader-election.service.js';
import { CronRunsService } from '../../schedule/cron-runs.service.js';
import type { TickSource } from '../../schedule/scheduler.js';
import type { LockService } from '../../service/lock.service.js';

/** The other services that an application has for a connection, for instances outside of any application. */
export class Companions {
  readonly #elections: LeaderElectionService;
  readonly #runs: CronRunsService;

  constructor(locks: LockService) {
    const calls = new EveryCall();
    this.#elections = new LeaderElectionService(locks);
    this.#runs = new CronRunsService(locks, calls, () => calls.next());
  }

  start(): void {
    this.#elections.start();
  }

  stop(): void {
    this.#runs.onModuleDestroy();
    this.#elections.beforeApplicationShutdown();
    this.#runs.onApplicationShutdown();
  }
}

/** A tick source without a scheduler: each call of a `@Cron` job is a tick of its own. */
class EveryCall implements TickSource {
  #tick = 0;

  next(): number {
    this.#tick = Math.max(Date.now(), this.#tick + 1);
    return this.#tick;
  }

  followingOf() {
    const tick = this.#tick;
    return (instant: number) => (instant < tick ? tick : Infinity);
  }
}

/**
 * Gives the instance's methods their locks, as an application does for instances that its factories create.
 * @param serviceOf the service of a connection
 * @throws LockConfigurationError when no method of the instance needs a lock, or one takes part in an election that
 *   does not exist
 */
export function bindMethods(instance: object, serviceOf: (connection: string) => LockService): void {
  for (const { slot, election } of lockedMethodsOf(instance)) {
    const service = serviceOf(slot.connection);
    slot.bind(instance, service);
    election?.join(service, instance);
  }
}

/** Returns the connections that the instance's methods need. @throws LockConfigurationError when there are none */
export function connectionsOf(instance: unknown): readonly string[] {
  const methods = typeof instance === 'object' && instance !== null ? lockedMethodsOf(instance) : [];
  if (methods.length > 0) return [...new Set(methods.map(({ slot }) => slot.connection))];
  throw new LockConfigurationError(
    'LockTesting.bind() takes an instance whose class has methods with lock decorators, as in LockTesting.bind(new Orders())',
  );
}
