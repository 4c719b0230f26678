import { badKey, checkKey } from '../../contract/key.js';
import { segmentOfKey } from '../../contract/segment.options.js';
import { withoutMark, withoutPart } from './contender-name.js';

// A path is sent with every request and kept with every znode; ZooKeeper itself only limits the whole request.
const LONGEST_PATH_BYTES = 1_024;
// What else ZooKeeper refuses (org.apache.zookeeper.common.PathUtils), and "%" so that two keys never share a path.
const ENCODED = /[%\ue000-\uf8ff\ufff0-\uffff\u{10000}-\u{10ffff}]/gu;

/** Directories under the base path for what is no contender: it must not stand among the contenders of a key. */
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
type Place = (typeof PLACES)[number];

/**
 * Where the lock on a key lives. `orders/42` lies under the base path; `/orders/42` is taken as it is. The segment
 * `stock/#0007` lies beside the locks: as a child of `stock` it would stand among the contenders of that key.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function lockPath(key: string, basePath: string): string {
  checkKey(key);
  const { key: whole, number } = segmentOfKey(key) ?? {};
  if (whole === undefined) return checkedPath(key, plainPath(key, basePath));
  return checkedPath(key, `${oneSegmentBelow(placeAt('segments', basePath), whole)}/${number}`);
}

/**
 * Where the record of a name lives: beside the locks under the base path, and where no key of a lock can lead.
 * @throws LockConfigurationError that says what is wrong with the name
 */
export function recordPath(name: string, basePath: string): string {
  checkKey(name);
  if (name.startsWith('/')) throw badKey(name, 'of a record must not begin with a slash');
  return checkedPath(name, plainPath(name, placeAt('records', basePath)));
}

/**
 * Where a number of permits lives: `pdf/permits` is the one of the semaphore `pdf`, which no key of a lock leads to.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function countPath(key: string, basePath: string): string {
  checkKey(key);
  const isRelative = !key.startsWith('/');
  return checkedPath(key, isRelative ? `${basePath}/${markless(key).join('/')}` : plainPath(key, basePath));
}

/** What has a place of its own beside the locks: of the same key, each kind is another thing. */
export type PlaceKind = Exclude<Place, 'records' | 'writes' | 'segments'>;

/**
 * Where what a key names lives that is no lock; a key that begins with a slash is taken as it is. The others are one
 * segment each: what is made for one key must not be what another one looks for.
 * @throws LockConfigurationError that says what is wrong with the key
 */
export function placePath(kind: PlaceKind, key: string, basePath: string): string {
  checkKey(key);
  const isOwn = !key.startsWith('/');
  return checkedPath(key, isOwn ? oneSegmentBelow(placeAt(kind, basePath), key) : plainPath(key, basePath));
}

/** The directory of a place. No relative key leads there: its "%" would be encoded. No absolute key may. */
export function placeAt(place: Place, basePath: string): string {
  return `${basePath}/%${place}`;
}

/**
 * Checks a path that others lie under, such as the base path.
 * @throws LockConfigurationError that says what is wrong with it
 */
export function checkRoot(path: string): void {
  checkKey(path);
  checkedPath(path, absolutePath(path));
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

/** The segments of a relative key, as ZooKeeper takes them, and such that no recipe of the key above takes one for its own. */
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
