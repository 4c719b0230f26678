import { LockConfigurationError } from '../../contract/errors.js';
import { describe } from '../../contract/check.js';

// A path is sent with every request and kept with every znode; ZooKeeper itself only limits the whole request.
const LONGEST_PATH_BYTES = 1_024;
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/u;
// What else ZooKeeper refuses (org.apache.zookeeper.common.PathUtils), and "%" so that two keys never share a path.
const ENCODED = /[%\ue000-\uf8ff\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;
// No relative key makes this: its "%" would be encoded.
const RECORDS = '%records';
const LONE_SURROGATE = /\p{Cs}/u;

/**
 * Where the lock on a key lives. `orders/42` lies under the base path; `/orders/42` is taken as it is.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function lockPath(key: string, basePath: string): string {
  if (typeof key !== 'string' || key === '') throw badKey(key, 'must be a string that is not empty');
  const path = key.startsWith('/') ? absolutePath(key) : `${basePath}/${encodedSegments(key).join('/')}`;
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) throw badKey(key, `makes a path over ${LONGEST_PATH_BYTES} bytes`);
  if (path === '/zookeeper' || path.startsWith('/zookeeper/'))
    throw badKey(key, 'lies in /zookeeper, the servers’ own');
  return path;
}

/**
 * Where the record of a name lives: beside the locks under the base path, and where no key of a lock can lead.
 * @throws LockConfigurationError that says what is wrong with the name
 */
export function recordPath(name: string, basePath: string): string {
  if (typeof name === 'string' && name.startsWith('/')) throw badKey(name, 'of a record must not begin with a slash');
  return lockPath(name, `${basePath}/${RECORDS}`);
}

/** What has a place of its own beside the locks: of the same key, each kind is another thing. */
export type PlaceKind = 'elections' | 'queues' | 'barriers' | 'double-barriers' | 'values';

/**
 * Where what a key names lives that is no lock; a key that begins with a slash is taken as it is. The others are one
 * segment each: what is made for one key must not be what another one looks for.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function placePath(kind: PlaceKind, key: string, basePath: string): string {
  const directory = `${basePath}/%${kind}`;
  const path = lockPath(key, directory);
  return key.startsWith('/') ? path : `${directory}/${path.slice(directory.length + 1).replaceAll('/', '%2F')}`;
}

/** The last segment of a name, from the znode's. */
export function recordName(znode: string): string {
  return decodeURIComponent(znode);
}

/** The path and its parents up to the root's children, nearest first. */
export function withAncestors(path: string): string[] {
  const ancestors: string[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) ancestors.push(path.slice(0, end));
  return ancestors;
}

function absolutePath(key: string): string {
  const encoded = encodedSegments(key, key.slice(1)).join('/');
  const isPlain = encoded === key.slice(1).replaceAll('%', '%25');
  if (!isPlain) throw badKey(key, 'is an absolute path with a character that ZooKeeper does not take');
  return key;
}

function encodedSegments(key: string, path = key): string[] {
  if (CONTROL.test(key)) throw badKey(key, 'has a control character');
  if (LONE_SURROGATE.test(key)) throw badKey(key, 'has half of a surrogate pair');
  return path.split('/').map((segment) => {
    if (segment === '') throw badKey(key, 'has an empty segment (a slash too many)');
    if (segment === '.' || segment === '..') throw badKey(key, `has the segment "${segment}"`);
    return segment.replace(ENCODED, encodeURIComponent);
  });
}

function badKey(key: unknown, why: string): LockConfigurationError {
  return new LockConfigurationError(`key ${why}, got ${describe(key)}`, {
    key: typeof key === 'string' ? key : undefined,
  });
}
