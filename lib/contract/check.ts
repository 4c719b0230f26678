import { LockConfigurationError } from './errors.js';

const LONGEST_LABEL = 256;

const NO_TTL = 'a lease has no time to live: it lasts until it is released or its session ends';

/** Fields of other lock libraries: why there is none here, and the fields that come closest. */
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
 * Refuses what is not an object, and fields that nobody reads: a misspelt option must not be ignored.
 * @param named what the options are called where they are no object
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

/** What to do instead of setting a field that other lock libraries have. */
function hintOn(field: string, known: readonly string[]): string {
  const { why, instead = [] } = HABITS.find(({ fields }) => fields.includes(field)) ?? {};
  const use = instead.find((name) => known.includes(name));
  if (use !== undefined) return `; ${why}, see ${use}`;
  return why === NO_TTL ? `; ${why}` : '';
}

/** A number of milliseconds; with `atLeast` 1 where zero makes no sense. */
export function checkMs(field: string, value: unknown, atLeast = 0, atMost = Infinity): void {
  const allowed = typeof value === 'number' && value >= atLeast && value <= atMost;
  const limits = atMost === Infinity ? `${atLeast} or more` : `from ${atLeast} to ${atMost}`;
  check(allowed, field, value, `a number of milliseconds, ${limits}`);
}

/** @throws LockConfigurationError for what is given as `signal` and is none */
export function checkSignal(signal: unknown): void {
  check(signal === undefined || signal instanceof AbortSignal, 'signal', signal, 'an AbortSignal');
}

/** What is run under a lock; one that is missing must not cost a lock first. @throws LockConfigurationError */
export function checkWork(work: unknown, usage = 'using(async (lease) => …)'): void {
  check(typeof work === 'function', 'the work to run under the lock', work, `a function, as in ${usage}`);
}

/** Of a contender: it travels with each, and is kept in its znode. @throws LockConfigurationError that names the field */
export function checkLabel(label: unknown, field = 'label'): void {
  const isLabel = label === undefined || (typeof label === 'string' && label.length <= LONGEST_LABEL);
  check(isLabel, field, label, `a string of at most ${LONGEST_LABEL} characters`);
}

/** The value's kind, and the value itself where it is short: enough to find it, without printing a whole object. */
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

/** Where in the application a lease was asked for. Its text is made when somebody wants it. */
export interface Place {
  toString(): string;
}

/** Not a field that applications can set, and copied with the options that it stands in. */
export const PLACE: unique symbol = Symbol('place');

/** Options of a call whose place is known already: a decorator's, or of a lock that is made of others. */
export interface Placed {
  readonly [PLACE]?: Place | undefined;
}
