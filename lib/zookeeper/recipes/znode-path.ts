import { badKey, checkKey } from '../../contract/key.js';
import { segmentOfKey } from '../../contract/segment.options.js';
import { withoutMark, withoutPart } from './contender-znode.js';

// A path is sent with every request and stored with every znode. ZooKeeper itself only limits the whole request.
const LONGEST_PATH_BYTES = 1_024;
// The other characters that ZooKeeper refuses (org.apache.zookeeper.common.PathUtils), and "%" so that two keys never
// share a path.
const ENCODED = /[%\ue000-\uf8ff\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;

/**
 * Directories under the base path for znodes that are not contenders. They must not be listed among the contenders of a
 * key.
 */
const PLACES = [
  'records',
  'elections',
  'queues',
  'barriers',
  'double-barriers',
  'values',
  'writes',
  'segments',
] as const;
type Location = (typeof PLACES)[number];

/**
 * The path of the lock on a key. The key `orders/42` is placed under the base path, and `/orders/42` is taken as it is.
 * The segment `stock/#0007` is placed beside the locks: as a child of `stock` it would be listed among the contenders
 * of that key.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function lockPath(key: string, basePath: string): string {
  checkKey(key);
  const { key: whole, number } = segmentOfKey(key) ?? {};
  if (whole === undefined) return checkedPath(key, plainPath(key, basePath));
  return checkedPath(key, `${oneSegmentBelow(placeAt('segments', basePath), whole)}/${number}`);
}

/**
 * The path of the record of a name. It is beside the locks under the base path, and no key of a lock leads to it.
 * @throws LockConfigurationError that says what is wrong with the name
 */
export function recordPath(name: string, basePath: string): string {
  checkKey(name);
  if (name.startsWith('/')) throw badKey(name, 'of a record must not begin with a slash');
  return checkedPath(name, plainPath(name, placeAt('records', basePath)));
}

/**
 * The path of a number of permits. `pdf/permits` is the number of the semaphore `pdf`, and no key of a lock leads to
 * it.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function countPath(key: string, basePath: string): string {
  checkKey(key);
  const isRelative = !key.startsWith('/');
  return checkedPath(key, isRelative ? `${basePath}/${markless(key).join('/')}` : plainPath(key, basePath));
}

/**
 * The kinds of objects with a directory of their own beside the locks. One key names a different object of each kind.
 */
export type PlaceKind = Exclude<Location, 'records' | 'writes' | 'segments'>;

/**
 * The path of an object that is not a lock. A key that begins with a slash is taken as it is. Any other key becomes one
 * single segment, so that the znodes of one key are never found under another key.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function placePath(kind: PlaceKind, key: string, basePath: string): string {
  checkKey(key);
  const isOwn = !key.startsWith('/');
  return checkedPath(key, isOwn ? oneSegmentBelow(placeAt(kind, basePath), key) : plainPath(key, basePath));
}

/**
 * The directory of a place. No relative key leads there, because its "%" would be encoded. No absolute key may lead
 * there.
 */
export function placeAt(place: Location, basePath: string): string {
  return `${basePath}/%${place}`;
}

/**
 * Checks a path that has other paths below it, such as the base path.
 * @throws LockConfigurationError that says what is wrong with it
 */
export function checkRoot(path: string): void {
  checkKey(path);
  checkedPath(path, absolutePath(path));
}

/** The last segment of a record's name, decoded from the name of its znode. */
export function recordName(znode: string): string {
  return decodeURIComponent(znode);
}

/** The key that a path below the base path stands for: the reverse of `lockPath`, one segment at a time. */
export function keySegment(znode: string): string {
  try {
    return decodeURIComponent(znode);
  } catch {
    // Another client has created it.
    return znode;
  }
}

/**
 * The path of the directory of a prefix of keys, which ends before the last slash of the prefix. `undefined` when no key
 * has that prefix.
 */
export function directoryOfPrefix(prefix: string, basePath: string): string | undefined {
  const end = prefix.lastIndexOf('/');
  if (end < 0) return basePath;
  const directory = prefix.slice(0, end);
  try {
    if (directory !== '') checkKey(directory);
  } catch {
    return undefined;
  }
  return prefix.startsWith('/') ? directory : `${basePath}/${unmarkedSegments(directory).join('/')}`;
}

/** The path and its parents up to the root's children, nearest first. */
export function withAncestors(path: string): string[] {
  const ancestors: string[] = [];
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) ancestors.push(path.slice(0, end));
  return ancestors;
}

function checkedPath(key: string, path: string): string {
  if (Buffer.byteLength(path) > LONGEST_PATH_BYTES) throw badKey(key, `makes a path over ${LONGEST_PATH_BYTES} bytes`);
  if (path === '/zookeeper' || path.startsWith('/zookeeper/'))
    throw badKey(key, 'lies in /zookeeper, the servers’ own');
  return path;
}

function plainPath(key: string, basePath: string): string {
  if (!key.startsWith('/')) return `${basePath}/${unmarkedSegments(key).join('/')}`;
  const path = absolutePath(key);
  if (path === basePath) throw badKey(key, 'is the base path, below which all other keys lie; name a key below it');
  const places = PLACES.map((place) => placeAt(place, basePath));
  const taken = places.find((place) => path === place || path.startsWith(`${place}/`));
  if (taken !== undefined) throw badKey(key, `lies in ${taken}, which is kept for what is no key of a lock`);
  return path;
}

function oneSegmentBelow(directory: string, key: string): string {
  return `${directory}/${unmarkedSegments(key).join('%2F')}`;
}

function absolutePath(key: string): string {
  const isPlain = encoded(key) === key.replaceAll('%', '%25');
  if (!isPlain) throw badKey(key, 'is an absolute path with a character that ZooKeeper does not take');
  const marked = key.split('/').find((segment) => withoutMark(segment) !== segment);
  if (marked === undefined) return key;
  const why = 'which the lock above it would take for a contender';
  throw badKey(key, `has the segment "${marked}", ${why}; write "${withoutMark(marked)}" instead`);
}

/**
 * The segments of a relative key, encoded as ZooKeeper accepts them. None of them can be parsed by a recipe of a key
 * above.
 */
function unmarkedSegments(key: string): string[] {
  const [first = '', ...below] = markless(key);
  return [first, ...below.map(withoutPart)];
}

function markless(key: string): string[] {
  return encoded(key).split('/').map(withoutMark);
}

function encoded(key: string): string {
  return key.replace(ENCODED, encodeURIComponent);
}
