import { check } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import type { LockBackend } from '../contract/lock-backend.js';
import { jobLockKey } from './keys.js';
import type { Keys } from './keys.js';
import type { LockServiceOptions } from './lock-service.options.js';

/** What belongs to one service. Locks, semaphores, segments and stock do not: all services share their keys. */
export type OwnedKind = 'job' | 'election' | 'queue' | 'barrier' | 'double barrier' | 'counter' | 'value';

/** The name of something that belongs to one service, as the application wrote it. */
export interface OwnedName {
  readonly kind: OwnedKind;
  readonly name: string;
  /** The decorator that needs it, for messages: `@LeaderOnly on Poller.poll`. */
  readonly usedBy?: string | undefined;
}

type ServiceNamesOptions = Pick<LockServiceOptions, 'service' | 'connectionName'>;

const SERVICE = /^[A-Za-z0-9._-]+$/;

/** @throws LockConfigurationError for what cannot be the name of a service */
export function checkService(service: unknown): void {
  const isSegment = typeof service === 'string' && SERVICE.test(service) && service !== '.' && service !== '..';
  check(isSegment, 'service', service, "a name of letters, digits, '.', '_' and '-', such as 'shop'");
}

/** A name that begins with a slash is a path, which belongs to no service. */
export function isAbsolute(name: string): boolean {
  return name.startsWith('/');
}

/** Has the names that one service uses kept apart from the same names of other services. */
export class ServiceNames {
  readonly #backend: LockBackend;
  readonly #keys: Keys;
  readonly #service: string | undefined;
  readonly #connectionName: string;

  /** @throws LockConfigurationError for what cannot be the name of a service */
  constructor(backend: LockBackend, keys: Keys, { service, connectionName }: ServiceNamesOptions) {
    if (service !== undefined) checkService(service);
    this.#backend = backend;
    this.#keys = keys;
    this.#service = service;
    this.#connectionName = connectionName;
  }

  /**
   * What the backend is asked for: `mail` of the service `shop` is `shop/mail`, `/mail` is `/mail`.
   * @throws LockConfigurationError for a name that makes no key, and for one that needs a service when none is set
   */
  keyOf(owned: OwnedName): string {
    return this.#checked(owned, (service) => `${service}/${owned.name}`);
  }

  /** The key of a job's lock, which no other lock has. @throws as `keyOf` */
  lockKeyOf(job: OwnedName): string {
    return this.#checked(job, (service) => jobLockKey(`${service}/${job.name}`));
  }

  /** @throws LockConfigurationError when no service is set */
  required(what: string): string {
    if (this.#service !== undefined) return this.#service;
    throw new LockConfigurationError(
      `${what} needs to know its service (connection "${this.#connectionName}"): set service, such as ` +
        "LockModule.forRoot({ service: 'shop', … }), or return it from the factory of forRootAsync",
    );
  }

  /** A wrong name is refused as it was written, not as what is made of it. */
  #checked(owned: OwnedName, scoped: (service: string) => string): string {
    const { name, kind, usedBy } = owned;
    this.#keys.identify(name);
    if (isAbsolute(name)) return name;
    const key = scoped(this.required(`${usedBy === undefined ? '' : `${usedBy}: `}the ${kind} "${name}"`));
    this.#backend.identify(key);
    return key;
  }
}
