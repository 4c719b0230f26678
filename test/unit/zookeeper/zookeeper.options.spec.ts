import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LockConfigurationError } from '../../../lib/contract/errors.js';
import { DEFAULTS, resolveZooKeeperOptions } from '../../../lib/zookeeper/zookeeper.options.js';
import type { ZooKeeperOptions } from '../../../lib/zookeeper/zookeeper.options.js';

const resolve = (options: unknown) => resolveZooKeeperOptions(options as ZooKeeperOptions);
const SECRET = 'hunter2';
const AUTH = "an object such as { scheme: 'digest', credentials: 'user:password' }";

function refusalOf(options: unknown): LockConfigurationError {
  try {
    resolve(options);
  } catch (error) {
    if (error instanceof LockConfigurationError) return error;
    throw error;
  }
  throw new Error('the options were taken');
}

beforeEach(() => void vi.stubEnv('ZOOKEEPER_CONNECT', undefined));
afterEach(() => void vi.unstubAllEnvs());

describe('the options of zookeeper()', () => {
  it('all have a default', () => {
    expect(resolve({})).toEqual({
      connect: { servers: [{ host: 'localhost', port: 2181 }], chroot: '' },
      sessionTimeoutMs: 10_000,
      connectTimeoutMs: 10_000,
      releaseTimeoutMs: 900,
      basePath: '/locks',
      parents: 'container',
      auth: [],
      acl: [{ permissions: 31, scheme: 'world', id: 'anyone' }],
    });
  });

  it('take a field that is undefined for absent', () => {
    const fields = [...Object.keys(DEFAULTS), 'connectString', 'auth', 'acl', 'tls'];
    expect(resolve(Object.fromEntries(fields.map((field) => [field, undefined])))).toEqual(resolve({}));
  });

  it('win over the defaults', () => {
    const given = {
      sessionTimeoutMs: 4_000,
      connectTimeoutMs: 1,
      releaseTimeoutMs: 0,
      basePath: '/a/b',
      parents: 'persistent',
    };
    expect(resolve(given)).toMatchObject(given);
  });

  it('may look for a server and wait for a release without a limit', () => {
    const unlimited = { connectTimeoutMs: Infinity, releaseTimeoutMs: Infinity };
    expect(resolve(unlimited)).toMatchObject(unlimited);
  });
});

describe('the connect string', () => {
  it('comes from the environment unless it is given', () => {
    vi.stubEnv('ZOOKEEPER_CONNECT', 'zk9:2199/env');
    expect(resolve({}).connect).toEqual({ servers: [{ host: 'zk9', port: 2199 }], chroot: '/env' });
    expect(resolve({ connectString: 'zk1' }).connect.servers).toEqual([{ host: 'zk1', port: 2181 }]);
  });

  it('is checked when it comes from the environment, too, which the error then names', () => {
    vi.stubEnv('ZOOKEEPER_CONNECT', 'zk9:port');
    expect(refusalOf({}).message).toContain('ZOOKEEPER_CONNECT: "zk9:port" is not a server');
    vi.stubEnv('ZOOKEEPER_CONNECT', '');
    expect(refusalOf({}).message).toContain('ZOOKEEPER_CONNECT must be a string such as "zk1:2181,zk2:2181/app"');
  });

  it.each(['zk1:x', 'zk1/app/', 'zk1,,zk2'])('is refused with the invalid part: %s', (connectString) => {
    const error = refusalOf({ connectString });
    expect(error.message).toMatch(/^connectString: ".*" is not a (server|chroot); write /);
    expect(error.cause).toBeInstanceOf(RangeError);
  });
});

describe('the base path', () => {
  it('is empty when it is the root', () => {
    expect(resolve({ basePath: '/' }).basePath).toBe('');
  });

  it('loses the slash at its end', () => {
    expect(refusalOf({ basePath: '/locks/' }).message).toContain('without a slash at its end, "/locks"');
  });

  it.each(['/a//b', '/a/../b', '/a\n', '/zookeeper'])('is refused like a key: %j', (basePath) => {
    const error = refusalOf({ basePath });
    expect(error.message).toMatch(/^basePath: key /);
    expect(error.cause).toBeInstanceOf(LockConfigurationError);
  });
});

describe('the access list of the znodes', () => {
  const auth = { scheme: 'digest', credentials: `me:${SECRET}` };
  const creator = [{ permissions: 31, scheme: 'auth', id: '' }];
  const open = [{ permissions: 31, scheme: 'world', id: 'anyone' }];

  it('contains only the session’s own identities, as soon as there are credentials', () => {
    expect(resolve({ auth }).acl).toEqual(creator);
    expect(resolve({ auth, acl: 'creator' }).acl).toEqual(creator);
  });

  it('allows everybody when the options say so', () => {
    expect(resolve({ auth, acl: 'open' }).acl).toEqual(open);
    expect(resolve({ acl: 'open' }).acl).toEqual(open);
  });

  it('is the given list', () => {
    const acl = [
      { permissions: 1, scheme: 'world', id: 'anyone' },
      { permissions: 31, scheme: 'ip', id: '127.0.0.1' },
    ];
    expect(resolve({ acl }).acl).toEqual(acl);
  });

  it('may be combined with one or several credentials', () => {
    const other = { scheme: 'digest', credentials: 'other:x' };
    expect(resolve({ auth }).auth).toEqual([auth]);
    expect(resolve({ auth: [auth, other] }).auth).toEqual([auth, other]);
    expect(resolve({ auth: [] })).toMatchObject({ auth: [], acl: open });
  });
});

describe('a wrong option', () => {
  const ms = (limits: string) => `a number of milliseconds, ${limits}`;
  const session = ms('from 100 to 2147483647');
  const permissions = 'a sum of READ 1, WRITE 2, CREATE 4, DELETE 8, ADMIN 16';
  const entry = { permissions: 31, scheme: 'world', id: 'anyone' };
  const aclList = "'open', 'creator' or a list of at least one entry";

  it.each([
    [{ sessionTimeoutMs: 99 }, 'sessionTimeoutMs', session, 'the number 99'],
    [{ sessionTimeoutMs: 2 ** 31 }, 'sessionTimeoutMs', session, 'the number 2147483648'],
    [{ sessionTimeoutMs: NaN }, 'sessionTimeoutMs', session, 'the number NaN'],
    [{ sessionTimeoutMs: '10s' }, 'sessionTimeoutMs', session, 'the string "10s"'],
    [{ sessionTimeoutMs: null }, 'sessionTimeoutMs', session, 'null'],
    [{ connectTimeoutMs: 0 }, 'connectTimeoutMs', ms('1 or more'), 'the number 0'],
    [{ connectTimeoutMs: true }, 'connectTimeoutMs', ms('1 or more'), 'the boolean true'],
    [{ releaseTimeoutMs: -1 }, 'releaseTimeoutMs', ms('0 or more'), 'the number -1'],
    [{ connectString: '' }, 'connectString', 'a string such as "zk1:2181,zk2:2181/app"', 'the string ""'],
    [{ connectString: ['zk1'] }, 'connectString', 'a string such as "zk1:2181,zk2:2181/app"', 'an array of 1'],
    [{ basePath: 'locks' }, 'basePath', 'a path that begins with a slash', 'the string "locks"'],
    [{ basePath: '' }, 'basePath', 'a path that begins with a slash', 'the string ""'],
    [{ basePath: 5n }, 'basePath', 'a path that begins with a slash', 'the bigint 5'],
    [{ parents: 'ttl' }, 'parents', "'container' or 'persistent'", 'the string "ttl"'],
    [{ parents: null }, 'parents', "'container' or 'persistent'", 'null'],
    [{ acl: 'creator' }, 'acl', "'open' or a list where no auth is given", 'the string "creator"'],
    [{ acl: 'everybody' }, 'acl', aclList, 'the string "everybody"'],
    [{ acl: [] }, 'acl', aclList, 'an array of 0'],
    [{ acl: entry }, 'acl', aclList, 'an object (Object)'],
    [{ acl: null }, 'acl', aclList, 'null'],
    [{ tls: 'yes' }, 'tls', 'true, false or an object', 'the string "yes"'],
    [{ tls: [] }, 'tls', 'true, false or an object', 'an array of 0'],
    [{ acl: [{ ...entry, permissions: 0 }] }, 'acl.permissions', permissions, 'the number 0'],
    [{ acl: [{ ...entry, permissions: 32 }] }, 'acl.permissions', permissions, 'the number 32'],
    [{ acl: [{ ...entry, permissions: 1.5 }] }, 'acl.permissions', permissions, 'the number 1.5'],
    [{ acl: [entry, { ...entry, permissions: 'all' }] }, 'acl.permissions', permissions, 'the string "all"'],
    [{ auth: 'digest' }, 'auth', AUTH, 'string'],
    [{ auth: null }, 'auth', AUTH, 'null'],
    [{ auth: { scheme: '', credentials: SECRET } }, 'auth.scheme', "a string such as 'digest'", 'the string ""'],
    [{ auth: [{ scheme: 7, credentials: SECRET }] }, 'auth.scheme', "a string such as 'digest'", 'the number 7'],
  ])('is named with the allowed values and the given one: %o', (options, field, allowed, came) => {
    expect(refusalOf(options).message).toBe(`${field} must be ${allowed}, got ${came}`);
  });

  it.each([
    [{ scheme: 5, id: 'anyone' }, 'the number 5'],
    [{ scheme: 'digest', id: 42 }, 'the number 42'],
    [{ scheme: 'digest' }, 'undefined'],
  ])('is named when it is in an entry of the access list: %o', (wrong, came) => {
    const { message } = refusalOf({ acl: [{ permissions: 31, ...wrong }] });
    expect(message).toMatch(/^acl\.(scheme|id|scheme and acl\.id) must be (a string|strings)/);
    expect(message).toContain(`got ${came}`);
  });

  it.each([null, undefined, 'world', 31])('is named when it is the entry of the access list itself: %o', (wrong) => {
    expect(refusalOf({ acl: [wrong] }).message).toMatch(/^acl/);
  });

  it.each([
    [{ sessionTimeout: 5 }, 'sessionTimeout'],
    [{ acls: 'open' }, 'acls'],
  ])('is named when no option has its name: %o', (options, field) => {
    const known =
      'sessionTimeoutMs, connectTimeoutMs, releaseTimeoutMs, basePath, parents, connectString, auth, acl, tls';
    expect(refusalOf(options).message).toBe(`zookeeper() options: unknown field "${field}" (known: ${known})`);
  });

  it.each([[null], ['zk1:2181'], [[]], [5]])('is the whole argument when the options are %o', (options) => {
    expect(refusalOf(options).message).toMatch(/^zookeeper\(\) options must be an object, got /);
  });
});

describe('a secret', () => {
  it.each([
    ['an object', { user: 'me', password: SECRET }],
    ['a buffer', Buffer.from(SECRET)],
    ['a list', ['me', SECRET]],
    ['a function', () => SECRET],
    ['absent', undefined],
    ['null', null],
  ])('that is %s is not described as a string', (_kind, credentials) => {
    const { message } = refusalOf({ auth: { scheme: 'digest', credentials } });
    expect(message).toMatch(/^auth\.credentials must be a string such as "user:password", got (?!the string)/);
  });

  it.each([424_242, 424_242n])('that is the %s is not printed', (credentials) => {
    const { message } = refusalOf({ auth: { scheme: 'digest', credentials } });
    expect(message).toMatch(/^auth\.credentials must be a string/);
    expect(message).not.toContain('424242');
  });

  it.each([
    ['the credentials are no string', { auth: { scheme: 'digest', credentials: [SECRET] } }],
    ['the scheme is wrong', { auth: { scheme: '', credentials: SECRET } }],
    ['it is given as the whole', { auth: `digest:me:${SECRET}` }],
    ['it is given as a pair', { auth: [['digest', SECRET]] }],
    ['its field is misspelt', { auth: { scheme: 'digest', credential: SECRET } }],
    ['another field is wrong', { auth: { scheme: 'digest', credentials: SECRET }, parents: 5 }],
    ['another field is misspelt', { auth: { scheme: 'digest', credentials: SECRET }, password: SECRET }],
    ['the access list is wrong', { auth: { scheme: 'digest', credentials: SECRET }, acl: [] }],
  ])('is not printed when %s', (_when, options) => {
    const error = refusalOf(options);
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain(SECRET);
  });
});
