import { check } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import { badKey, hasMissingValue } from '../contract/key.js';
import type { LockBackend } from '../contract/lock-backend.js';
import type { LockServiceOptions } from './lock-service.options.js';

/**
 * The kinds of things that belong to one service. Locks, semaphores, segments and stock do not: all services share
 * their keys.
 */
export type OwnedKind = 'job' | 'election' | 'queue' | 'barrier' | 'double barrier' | 'counter' | 'value';

/** The name of something that belongs to one service, as the application wrote it. */
interface OwnedName {
  readonly kind: OwnedKind;
  readonly name: string;
  /** The decorator that needs the name, for messages: `@LeaderOnly on Poller.poll`. */
  readonly usedBy?: string | undefined;
}

type ServiceNamesOptions = Pick<LockServiceOptions, 'service' | 'connectionName'>;

const SERVICE = /^[A-Za-z0-9._-]+$/;

/** @throws LockConfigurationError if it is not a valid name of a service */
export function checkService(service: unknown): void {
  const isSegment = typeof service === 'string' && SERVICE.test(service) && service !== '.' && service !== '..';
  check(isSegment, 'service', service, "a name of letters, digits, '.', '_' and '-', such as 'shop'");
}

/** Whether a name is an absolute path, which belongs to no service. */
export function isAbsolute(name: string): boolean {
  return name.startsWith('/');
}

/** Separates the names of one service from the same names of other services. */
export class ServiceNames {
  readonly #backend: LockBackend;
  readonly #keys: Keys;
  readonly #service: string | undefined;
  readonly #connectionName: string;

  /** @throws LockConfigurationError if it is not a valid name of a service */
  constructor(backend: LockBackend, keys: Keys, { service, connectionName }: ServiceNamesOptions) {
    if (service !== undefined) checkService(service);
    this.#backend = backend;
    this.#keys = keys;
    this.#service = service;
    this.#connectionName = connectionName;
  }

  /**
   * Returns the key for the backend: `mail` of the service `shop` is `shop/mail`, `/mail` is `/mail`.
   * @throws LockConfigurationError for a name that is not a valid key, and for one that needs a service when none is
   *   set
   */
  keyOf(owned: OwnedName): string {
    return this.#checked(owned, (service) => `${service}/${owned.name}`);
  }

  /** Returns the key of a job's lock, which no other lock has. @throws as `keyOf` */
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

  /**
   * Checks the name first, so that an invalid name is reported as it was written and not as the key derived from it.
   */
  #checked(owned: OwnedName, scoped: (service: string) => string): string {
    const { name, kind, usedBy } = owned;
    this.#keys.identify(name);
    if (isAbsolute(name)) return name;
    const key = scoped(this.required(`${usedBy === undefined ? '' : `${usedBy}: `}the ${kind} "${name}"`));
    this.#backend.identify(key);
    return key;
  }
}

const JOBS = '#jobs';

// There are few keys with a missing value, unless they contain other values too. By then there were enough warnings.
const MOST_WARNINGS = 1_000;

// Absolute keys are few: they name locks of other applications. Each one is a request more for a survey.
const MOST_ABSOLUTE = 20;

/** Returns the key of a job's lock, under its service. No other lock has it. */
export function jobLockKey(job: string): string {
  return `${JOBS}/${job}`;
}

/** Whether it is the key of a job's lock, or an ancestor of such keys. */
export function isJobLockKey(key: string, root = JOBS): boolean {
  return key === root || key.startsWith(`${root}/`);
}

/** @throws LockConfigurationError if it is the key of a job's lock */
export function refuseJobLockKey(key: string, field?: string): void {
  if (isJobLockKey(key)) throw jobLockRefusal(key, field);
}

function jobLockRefusal(key: string, field?: string): LockConfigurationError {
  return badKey(key, `must not begin with "${JOBS}", where the locks of jobs are; choose another one`, field);
}

/** The keys of one connection. Every key is checked here before it is used. */
export class Keys {
  readonly #backend: Pick<LockBackend, 'identify'>;
  readonly #warn: (message: string) => void;
  readonly #warned = new Set<string>();
  readonly #absolute = new Set<string>();
  #jobs: string | undefined;

  constructor(backend: Pick<LockBackend, 'identify'>, warn: (message: string) => void) {
    this.#backend = backend;
    this.#warn = warn;
  }

  /**
   * Returns the identity of the key in the backend.
   * @throws LockConfigurationError that says what is wrong with the key
   */
  identify(key: string): string {
    const identity = this.#backend.identify(key);
    this.#jobs ??= this.#backend.identify(JOBS);
    if (isJobLockKey(identity, this.#jobs)) throw jobLockRefusal(key);
    if (hasMissingValue(key)) this.#warnOnce(key);
    if (isAbsolute(key) && this.#absolute.size < MOST_ABSOLUTE) this.#absolute.add(key);
    return identity;
  }

  /** The absolute keys that were used, as far as they are remembered. */
  get absolute(): readonly string[] {
    return [...this.#absolute];
  }

  #warnOnce(key: string): void {
    if (this.#warned.has(key) || this.#warned.size === MOST_WARNINGS) return;
    this.#warned.add(key);
    this.#warn(
      `the key "${key}" looks as if a value were missing in it: all callers without that value share one key. ` +
        'Make it with the tag key`…`, such as key`order/${id}`: it refuses missing values',
    );
  }
}
