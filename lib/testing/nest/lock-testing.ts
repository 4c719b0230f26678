import type { LockBackendDefinition } from '../../contract/lock-backend.js';
import { LockConfigurationError } from '../../contract/errors.js';
import { OPTIONS } from '../../lock.module.js';
import { resolveLockModuleOptions } from '../../lock.options.js';
import type { LockModuleOptions } from '../../lock.options.js';
import { LockService } from '../../service/lock.service.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../../service/lock-service.token.js';
import { Journal } from './journal.js';
import { JournalledGate } from './journalled-gate.js';
import { MODULE_DEFAULTS, resolveLockTestingOptions } from './lock-testing.options.js';
import type { LockTestingOptions } from './lock-testing.options.js';
import { bindMethods, Companions, connectionsOf } from './made-with-new.js';
import type { OtherContender, OtherMode } from './other-contender.js';
import { ScriptedBackend } from './scripted.backend.js';

/**
 * A test's control over the locks of one application on one connection. It scripts the conditions that they find, and
 * records what they did.
 */
export class LockTesting {
  /** The record of all acquisitions, in order. */
  readonly journal = new Journal();
  // No #private members here: Nest may be configured to put its providers behind a Proxy, which has none.
  private readonly backend: ScriptedBackend;
  private readonly longestWaitMs: number;
  private service: LockService | undefined;
  private companions: Companions | undefined;

  /** @throws LockConfigurationError that names the wrong field */
  constructor(options: LockTestingOptions = {}) {
    const resolved = resolveLockTestingOptions(options);
    this.backend = new ScriptedBackend(resolved);
    this.longestWaitMs = resolved.longestWaitMs;
  }

  /**
   * Gives an instance that was made with `new`, outside of Nest, locks in memory. Its decorated methods run under them.
   * @param locks controls the locks. For an instance that uses several connections: one for each, by the connections'
   *   names. A connection without one has locks without other contenders
   * @returns the instance
   * @throws LockConfigurationError when its class has no decorated method, or none of a connection that is named
   */
  static bind<T extends object>(instance: T, locks: LockTesting | Readonly<Record<string, LockTesting>> = {}): T {
    const connections = connectionsOf(instance);
    const given = locks instanceof LockTesting ? byConnection(connections, locks) : locks;
    Object.keys(given).forEach((name) => refuseUnused(name, connections));
    const all = new Map(connections.map((name) => [name, given[name] ?? new LockTesting()]));
    bindMethods(instance, (name) => (all.get(name) ?? new LockTesting()).serviceFor(name));
    all.forEach((each) => each.companions?.start());
    return instance;
  }

  /** The locks as code calls them, for classes that take a `LockService` in their constructor. */
  get locks(): LockService {
    return this.service ?? this.serviceFor(DEFAULT_CONNECTION);
  }

  /**
   * Ends the work of the instances that this was bound to: waiting callers are refused, leases are lost, and nothing is
   * granted any more. An application closes its own. Without waiting callers or campaigns there is nothing to end.
   */
  async close(): Promise<void> {
    this.companions?.stop();
    this.service?.beforeApplicationShutdown();
    await this.service?.onApplicationShutdown();
  }

  /**
   * Replaces a connection that the application registers with `LockModule`. The connection's other options are kept,
   * and no server is contacted. The name must be that of the registration, or the connection is left as it is.
   * @param builder the result of `Test.createTestingModule(…)`
   * @returns the same builder
   */
  replaceIn<B extends ModuleBuilder>(builder: B, name: string = DEFAULT_CONNECTION): B {
    builder.overrideProvider(getLockServiceToken(name)).useFactory({
      inject: [OPTIONS],
      factory: (options: LockModuleOptions) => this.open(options, name),
    });
    return builder;
  }

  /**
   * Adds a contender from outside the application. It holds the key at once when the key is free, else it queues behind
   * the present contenders. It never releases by itself.
   * With mode `'leader'` it campaigns in the election of that name. With mode `'job'` it runs the job of that key. Both
   * act as another instance of the application's service.
   */
  contend(key: string, mode: OtherMode = 'exclusive'): OtherContender {
    return this.backend.contend(key, mode);
  }

  /**
   * Makes every contender outside the application release the key or leave its wait queue, and the same for the
   * election of that name. Without a key, this applies to every key. With mode `'contended'` they do not return.
   */
  letGo(key?: string): Promise<void> {
    return this.backend.letGo(key);
  }

  /** Makes all servers unavailable: leases become `suspended`, and callers get a `LockUnavailableError`. */
  unavailable(): void {
    this.backend.setReachable(false);
  }

  /** Makes the servers available again. Nothing was lost meanwhile. */
  available(): void {
    this.backend.setReachable(true);
  }

  /**
   * Loses the application's leases on the key, as with an expired session, and its term in the election of that name.
   * Their signals abort, and the key is free.
   * @throws LockConfigurationError when the application does not hold the key, which is a mistake in the test
   */
  loseLease(key: string): void {
    if (this.backend.loseLeases(key)) return;
    throw new LockConfigurationError(`the application does not hold "${key}", so it cannot lose it`, { key });
  }

  /** @internal Creates the service that this object controls. */
  open(options: Omit<LockModuleOptions, 'backend'>, connectionName: string): LockService {
    if (this.service) {
      throw new LockConfigurationError('a LockTesting serves one application; make one for each that a test creates');
    }
    const backend: LockBackendDefinition = { name: this.backend.name, create: () => this.backend };
    const { backend: own, ...resolved } = resolveLockModuleOptions({ ...options, backend });
    this.backend.serve(resolved.service);
    const made = own.create();
    const gate = new JournalledGate(made, connectionName, this.journal, this.longestWaitMs);
    this.service = new LockService(made, { connectionName, ...resolved }, gate);
    return this.service;
  }

  private serviceFor(connectionName: string): LockService {
    if (this.service) return this.service;
    const service = this.open(MODULE_DEFAULTS, connectionName);
    this.companions = new Companions(service);
    return service;
  }
}

function byConnection(connections: readonly string[], locks: LockTesting): Readonly<Record<string, LockTesting>> {
  if (connections.length === 1) return Object.fromEntries(connections.map((name) => [name, locks]));
  const all = connections.map((name) => `"${name}"`).join(', ');
  throw new LockConfigurationError(
    `LockTesting.bind(): the class uses the connections ${all}: name them, as in { ${connections[0]}: new LockTesting() }`,
  );
}

function refuseUnused(name: string, connections: readonly string[]): void {
  if (connections.includes(name)) return;
  const all = connections.map((one) => `"${one}"`).join(', ');
  throw new LockConfigurationError(`LockTesting.bind(): no method uses the connection "${name}" (used: ${all})`);
}

/** The part of Nest's `TestingModuleBuilder` that is needed. */
export interface ModuleBuilder {
  overrideProvider(token: unknown): {
    useFactory(options: { inject?: unknown[]; factory: (options: LockModuleOptions) => LockService }): unknown;
  };
}
