import { LockConfigurationError } from './errors.js';

const LONGEST_LABEL = 256;

const NO_TTL = 'a lease has no time to live: it lasts until it is released or its session ends';

/** Option names of other lock libraries, why they do not exist here, and the closest fields. */
const HABITS: readonly { fields: readonly string[]; why: string; instead: readonly string[] }[] = [
  {
    fields: ['ttl', 'duration', 'expire', 'expiry', 'expireIn', 'leaseTime', 'lockAtMostFor'],
    why: NO_TTL,
    instead: ['maxHeldMs', 'atMostMs'],
  },
  {
    fields: ['connectString', 'host', 'hosts', 'servers'],
    why: 'the servers are an option of the backend',
    instead: ['backend'],
  },
  { fields: ['lockAtLeastFor'], why: 'the time between two runs is in milliseconds', instead: ['atLeastMs'] },
  {
    fields: ['retryCount', 'retryDelay', 'retryJitter', 'retries', 'retryInterval'],
    why: 'nothing is retried: a call waits in the queue until its turn comes',
    instead: ['waitMs'],
  },
  {
    fields: ['timeout', 'wait', 'waitTime', 'maxWait', 'acquireTimeout'],
    why: 'the longest wait is in milliseconds',
    instead: ['waitMs'],
  },
];

/** @throws LockConfigurationError that names the field, the kind of the value and what is allowed */
export function check(allowed: boolean, field: string, value: unknown, expected: string): asserts allowed {
  if (!allowed) throw new LockConfigurationError(`${field} must be ${expected}, got ${describe(value)}`);
}

/**
 * Rejects values that are not objects, and unknown fields: a misspelt option must not be ignored.
 * @param named name of the options in the message for a value that is not an object
 */
export function checkFields(
  what: string,
  options: unknown,
  known: readonly string[],
  named = what,
  expected = 'an object',
): void {
  check(typeof options === 'object' && options !== null && !Array.isArray(options), named, options, expected);
  for (const field of Object.keys(options as object)) {
    if (known.includes(field)) continue;
    throw new LockConfigurationError(
      `${what}: unknown field "${field}" (known: ${known.join(', ')})${hintOn(field, known)}`,
    );
  }
}

/** Returns a hint on what to use instead of a field that other lock libraries have. */
function hintOn(field: string, known: readonly string[]): string {
  const { why, instead = [] } = HABITS.find(({ fields }) => fields.includes(field)) ?? {};
  const use = instead.find((name) => known.includes(name));
  if (use !== undefined) return `; ${why}, see ${use}`;
  return why === NO_TTL ? `; ${why}` : '';
}

/** Checks a number of milliseconds. Pass `atLeast` 1 where zero makes no sense. */
export function checkMs(field: string, value: unknown, atLeast = 0, atMost = Infinity): void {
  const allowed = typeof value === 'number' && value >= atLeast && value <= atMost;
  const limits = atMost === Infinity ? `${atLeast} or more` : `from ${atLeast} to ${atMost}`;
  check(allowed, field, value, `a number of milliseconds, ${limits}`);
}

/** @throws LockConfigurationError if `signal` is given and is not an AbortSignal */
export function checkSignal(signal: unknown): void {
  check(signal === undefined || signal instanceof AbortSignal, 'signal', signal, 'an AbortSignal');
}

/**
 * Checks the function to run under a lock, so that no lock is acquired when it is missing.
 * @throws LockConfigurationError
 */
export function checkWork(work: unknown, usage = 'using(async (lease) => …)'): void {
  check(typeof work === 'function', 'the work to run under the lock', work, `a function, as in ${usage}`);
}

/**
 * Checks a contender's label, which is sent with each contender and stored in its znode.
 * @throws LockConfigurationError that names the field
 */
export function checkLabel(label: unknown, field = 'label'): void {
  const isLabel = label === undefined || (typeof label === 'string' && label.length <= LONGEST_LABEL);
  check(isLabel, field, label, `a string of at most ${LONGEST_LABEL} characters`);
}

/**
 * Returns the value's kind, and the value itself if it is short. That is enough to find it without printing a whole
 * object.
 */
export function describe(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return `an array of ${value.length}`;
  switch (typeof value) {
    case 'string':
      return `the string ${JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value)}`;
    case 'number':
    case 'boolean':
    case 'bigint':
      return `the ${typeof value} ${value}`;
    case 'object':
      return `an object (${value.constructor?.name ?? 'no class'})`;
    default:
      return typeof value;
  }
}

/** The place in the application where a lease was requested. Its text is computed when it is needed. */
export interface Site {
  toString(): string;
}

/** Key of the place in an options object. Applications cannot set it, and it is copied with the options. */
export const PLACE: unique symbol = Symbol('place');

/** Options of a call whose place is already known: the call of a decorator, or of a lock that is made of others. */
export interface Placed {
  readonly [PLACE]?: Site | undefined;
}
