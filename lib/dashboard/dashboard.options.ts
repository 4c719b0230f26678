import type { CanActivate, ExecutionContext, Type } from '@nestjs/common';
import { check, checkFields } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import { checkKey } from '../contract/key.js';
import type { DashboardAction } from './answers.js';

/** The options of the page that `forRootAsync` may return from its factory. */
export interface LockDashboardOptions {
  /**
   * Decides whether a request may see the page (`'view'`) or do an action. Without it and without `guards`, every
   * request is refused unless `NODE_ENV` is `development` or `test`.
   */
  readonly authorize?:
    ((context: ExecutionContext, action: DashboardAction | 'view') => boolean | Promise<boolean>) | undefined;
  /**
   * The actions that the page offers, and that the server does.
   * - `'revoke'` takes a key away from its holders.
   * - `'resign'` ends a leadership of this instance.
   * - `'forget'` deletes the record of a job's latest run.
   *
   * Default: none.
   */
  readonly actions?: readonly DashboardAction[] | undefined;
  /** Returns the name of the person behind a request, for the log line of an action. */
  readonly who?: ((context: ExecutionContext) => string | undefined) | undefined;
  /** Returns the text that the page shows in place of a key, for keys that contain personal data. */
  readonly redactKey?: ((key: string) => string) | undefined;
  /**
   * The secret behind the names of redacted keys in requests, of at least 16 characters. All instances behind one load
   * balancer need the same one, or links to keys work on one instance only. Default: a random one for each process.
   */
  readonly secret?: string | undefined;
  /** Whether host names are shown, and the messages of the session, which may contain them. Default `true`. */
  readonly showHosts?: boolean | undefined;
  /** Absolute keys outside of the base path that are always looked at: at most 20. Default: none. */
  readonly paths?: readonly string[] | undefined;
  /** The names of the connections that are shown. Default: all of the application. */
  readonly connections?: readonly string[] | undefined;
  /** The path of the page as browsers see it, when a proxy renames its last segment: `/ops/locks`. */
  readonly publicPath?: string | undefined;
  /** Origins, such as `https://ops.example.com`, whose pages may do actions beside the page's own. Default: none. */
  readonly allowedOrigins?: readonly string[] | undefined;
  /** The folder of the page's files, when a bundler has moved this package's code away from them. */
  readonly assets?: string | undefined;
}

/** Options of `forRoot` and of `forRootAsync` that must be known before the module is built. */
export interface LockDashboardExtras {
  /** The path of the page below the application's global prefix. Default `'locks'`. */
  readonly path?: string | undefined;
  /** Guards of the page, beside those of the application: classes or instances. */
  readonly guards?: readonly (CanActivate | Type<CanActivate>)[] | undefined;
}

export type ResolvedDashboardOptions = Required<
  Pick<LockDashboardOptions, 'actions' | 'showHosts' | 'paths' | 'allowedOrigins'>
> &
  LockDashboardOptions;

export const DEFAULTS = Object.freeze({ actions: [], showHosts: true, paths: [], allowedOrigins: [] });

const FIELDS = [
  'authorize',
  'actions',
  'who',
  'redactKey',
  'secret',
  'showHosts',
  'paths',
  'connections',
  'publicPath',
  'allowedOrigins',
  'assets',
];

const ACTIONS: readonly unknown[] = ['revoke', 'resign', 'forget'] satisfies DashboardAction[];
const MOST_PATHS = 20;
const SHORTEST_SECRET = 16;

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong field */
export function resolveDashboardOptions(options: LockDashboardOptions): ResolvedDashboardOptions {
  refuseExtras(options);
  checkFields('LockDashboardModule options', options, FIELDS);
  for (const field of ['authorize', 'who', 'redactKey'] as const) {
    const value = options[field];
    check(value === undefined || typeof value === 'function', field, value, 'a function');
  }
  for (const field of ['publicPath', 'assets'] as const) {
    const value = options[field];
    check(value === undefined || (typeof value === 'string' && value !== ''), field, value, 'text that is not empty');
  }
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  const resolved: ResolvedDashboardOptions = { ...DEFAULTS, ...given };
  check(typeof resolved.showHosts === 'boolean', 'showHosts', resolved.showHosts, 'true or false');
  checkSecret(resolved.secret);
  checkLists(resolved);
  return resolved;
}

/** Checks the secret, and never says what it is. */
function checkSecret(secret: unknown): void {
  const expected = `text of at least ${SHORTEST_SECRET} characters`;
  if (typeof secret !== 'string') return check(secret === undefined, 'secret', secret, expected);
  if (secret.length < SHORTEST_SECRET) {
    throw new LockConfigurationError(`secret must be ${expected}, got ${secret.length} characters`);
  }
}

function checkLists({ actions, paths, connections, allowedOrigins }: ResolvedDashboardOptions): void {
  checkList('actions', actions, (action) => ACTIONS.includes(action), "'revoke', 'resign' or 'forget'");
  checkList('paths', paths, (path) => path.startsWith('/'), 'absolute keys, which begin with a slash');
  check(paths.length <= MOST_PATHS, 'paths', paths, `at most ${MOST_PATHS} keys`);
  paths.forEach((path) => checkKey(path, 'paths'));
  checkList('connections', connections ?? [], (name) => name !== '', 'names of connections');
  checkList('allowedOrigins', allowedOrigins, isOrigin, "origins such as 'https://ops.example.com'");
}

function checkList(field: string, list: unknown, isAllowed: (value: string) => boolean, expected: string): void {
  const isList = Array.isArray(list) && list.every((value) => typeof value === 'string' && isAllowed(value));
  check(isList, field, list, `an array of ${expected}`);
}

function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** Refuses options that must be known before the factory runs. */
function refuseExtras(options: unknown): void {
  const given = typeof options === 'object' && options !== null ? Object.keys(options) : [];
  const extra = given.find((name) => name === 'path' || name === 'guards');
  if (extra === undefined) return;
  throw new LockConfigurationError(
    `LockDashboardModule options: ${extra} stands beside useFactory in forRootAsync({…}), not in what the factory returns`,
  );
}

/** Merges with the defaults and checks. @throws LockConfigurationError that names the wrong extra */
export function resolveDashboardExtras({ path = 'locks', guards = [] }: LockDashboardExtras): {
  readonly path: string;
  readonly guards: readonly (CanActivate | Type<CanActivate>)[];
} {
  const isPath = typeof path === 'string' && /^[\w.~-]+(\/[\w.~-]+)*$/.test(path);
  check(isPath, 'LockDashboardModule: path', path, "a path such as 'locks' or 'ops/locks', without a slash around it");
  const areGuards = Array.isArray(guards) && guards.every((guard) => typeof (guard as unknown) !== 'undefined');
  check(areGuards, 'LockDashboardModule: guards', guards, 'an array of guards');
  return { path, guards };
}
