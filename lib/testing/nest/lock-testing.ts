import type { LockBackendDefinition } from '../../contract/lock-backend.js';
import { LockConfigurationError } from '../../contract/errors.js';
import { OPTIONS } from '../../lock.module.js';
import { resolveLockModuleOptions } from '../../lock.options.js';
import type { LockModuleOptions } from '../../lock.options.js';
import { LockService } from '../../service/lock.service.js';
import { DEFAULT_CONNECTION, getLockServiceToken } from '../../service/lock-service.token.js';
import { Journal } from './journal.js';
import { JournalledAdmission } from './journalled-admission.js';
import { resolveLockTestingOptions } from './lock-testing.options.js';
import type { LockTestingOptions } from './lock-testing.options.js';
import type { OtherContender, OtherMode } from './other-contender.js';
import { ScriptedBackend } from './scripted.backend.js';

/** What a test says of the world around one application's locks on one connection, and sees of what they did. */
export class LockTesting {
  /** What was locked, in order. */
  readonly journal = new Journal();
  // No #private members here: Nest may be told to put its providers behind a Proxy, which has none.
  private readonly backend: ScriptedBackend;
  private readonly longestWaitMs: number;
  private isTaken = false;

  /** @throws LockConfigurationError that names the wrong field */
  constructor(options: LockTestingOptions = {}) {
    const resolved = resolveLockTestingOptions(options);
    this.backend = new ScriptedBackend(resolved);
    this.longestWaitMs = resolved.longestWaitMs;
  }

  /**
   * Puts itself in the place of a connection that the application registers with `LockModule`, whose other options stay;
   * no server is asked. The name must be that of the registration, or the connection is left as it is.
   * @param builder what `Test.createTestingModule(…)` returns
   * @returns the same
   */
  replaceIn<B extends ModuleBuilder>(builder: B, name: string = DEFAULT_CONNECTION): B {
    builder.overrideProvider(getLockServiceToken(name)).useFactory({
      inject: [OPTIONS],
      factory: (options: LockModuleOptions) => this.open(options, name),
    });
    return builder;
  }

  /**
   * Somebody outside the application wants the key: holds it at once when it is free, else stands in line behind those
   * who are there. It never gives way by itself. With mode `'leader'` it campaigns in the election of that name, with mode
   * `'job'` it runs the job of that key; both as another instance of the application's service.
   */
  contend(key: string, mode: OtherMode = 'exclusive'): OtherContender {
    return this.backend.contend(key, mode);
  }

  /**
   * Everybody outside the application gives the key back, or leaves its line, and so with the election of that name;
   * without a key, every key. With mode `'contended'` they do not come again.
   */
  letGo(key?: string): Promise<void> {
    return this.backend.letGo(key);
  }

  /** No server answers any more: leases are `suspended`, whoever asks gets a `LockUnavailableError`. */
  unavailable(): void {
    this.backend.setReachable(false);
  }

  /** They answer again, and nothing was lost. */
  available(): void {
    this.backend.setReachable(true);
  }

  /**
   * The application's leases on the key are lost, as with an expired session, and its term in the election of that name:
   * their signals abort, and the key is free.
   * @throws LockConfigurationError when the application does not hold it: the test is wrong about that
   */
  loseLease(key: string): void {
    if (this.backend.loseLeases(key)) return;
    throw new LockConfigurationError(`the application does not hold "${key}", so it can not lose it`, { key });
  }

  /** @internal The service that all this happens to. */
  open(options: Omit<LockModuleOptions, 'backend'>, connectionName: string): LockService {
    if (this.isTaken) {
      throw new LockConfigurationError('a LockTesting serves one application; make one for each that a test creates');
    }
    this.isTaken = true;
    const backend: LockBackendDefinition = { name: this.backend.name, create: () => this.backend };
    const { backend: own, ...resolved } = resolveLockModuleOptions({ ...options, backend });
    this.backend.serve(resolved.service);
    const made = own.create();
    const admission = new JournalledAdmission(made, this.journal, this.longestWaitMs);
    return new LockService(made, { connectionName, ...resolved }, admission);
  }
}

/** What is needed of Nest's `TestingModuleBuilder`. */
export interface ModuleBuilder {
  overrideProvider(token: unknown): {
    useFactory(options: { inject?: unknown[]; factory: (options: LockModuleOptions) => LockService }): unknown;
  };
}
