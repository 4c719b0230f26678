import type { LockConfigurationError } from '../contract/errors.js';
import { badKey, hasMissingValue } from '../contract/key.js';
import type { LockBackend } from '../contract/lock-backend.js';

const JOBS = '#jobs';

// Keys made of a missing value are few, unless more values are in them; by then the log has said enough.
const MOST_WARNINGS = 1_000;

/** The key of a job's lock, under its service. No other lock has it. */
export function jobLockKey(job: string): string {
  return `${JOBS}/${job}`;
}

/** Whether it is the key of a job's lock, or leads to some. */
export function isJobLockKey(key: string, root = JOBS): boolean {
  return key === root || key.startsWith(`${root}/`);
}

/** @throws LockConfigurationError for the key of a job's lock */
export function refuseJobLockKey(key: string, field?: string): void {
  if (isJobLockKey(key)) throw jobLockRefusal(key, field);
}

function jobLockRefusal(key: string, field?: string): LockConfigurationError {
  return badKey(key, `must not begin with "${JOBS}", where the locks of jobs are; choose another one`, field);
}

/** The keys of one connection, each of which passes here before anything else is done with it. */
export class Keys {
  readonly #backend: Pick<LockBackend, 'identify'>;
  readonly #warn: (message: string) => void;
  readonly #warned = new Set<string>();
  #jobs: string | undefined;

  constructor(backend: Pick<LockBackend, 'identify'>, warn: (message: string) => void) {
    this.#backend = backend;
    this.#warn = warn;
  }

  /** What the backend calls the key. @throws LockConfigurationError that says what is wrong with the key */
  identify(key: string): string {
    const identity = this.#backend.identify(key);
    this.#jobs ??= this.#backend.identify(JOBS);
    if (isJobLockKey(identity, this.#jobs)) throw jobLockRefusal(key);
    if (hasMissingValue(key)) this.#warnOnce(key);
    return identity;
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
