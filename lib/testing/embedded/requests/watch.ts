import { Refusal } from '../wire/refusal.js';
import type { ReplyBody } from '../wire/reply-writer.js';
import type { RequestReader } from '../wire/request-reader.js';
import type { WatchKind } from '../watches/watches.js';
import type { Client } from './client.js';

const NOTHING: ReplyBody = () => {};

export function setWatches(reader: RequestReader, { replica, watcher }: Client, withPersistent: boolean): ReplyBody {
  const [zxid, data, exist, children] = [reader.long(), reader.paths(), reader.paths(), reader.paths()];
  const [persistent, recursive] = withPersistent ? [reader.paths(), reader.paths()] : [[], []];
  replica.watches.catchUp(replica.tree, watcher, { zxid, data, exist, children, persistent, recursive });
  return NOTHING;
}

/** {ustring path; int mode}, answered by {int err} */
export function addWatch(reader: RequestReader, { replica, watcher }: Client): ReplyBody {
  const path = reader.nullableString();
  const mode = (['persistent', 'recursive'] as const)[reader.int()];
  if (!mode) throw new RangeError('no such mode of a watch');
  // Nothing ever happens to a null path, and the server does not report it as wrong.
  if (path !== null) replica.watches.addPersistent(path, watcher, mode);
  return (writer) => writer.int(0);
}

const KINDS: Readonly<Record<number, readonly WatchKind[]>> = { 1: ['children'], 2: ['data'], 3: ['children', 'data'] };

export function checkWatches(reader: RequestReader, { replica }: Client): ReplyBody {
  const { path, kinds } = readKinds(reader);
  // ZooKeeper follows the path upwards, and fails where there is no parent.
  if (path !== '' && !path.includes('/')) throw new RangeError('no path to check');
  if (!replica.watches.contains(path, kinds)) throw new Refusal('noWatcher');
  return NOTHING;
}

export function removeWatches(reader: RequestReader, { replica, watcher }: Client): ReplyBody {
  const { path, kinds } = readKinds(reader);
  if (!replica.watches.remove(path, watcher, kinds)) throw new Refusal('noWatcher');
  return NOTHING;
}

/** A path that cannot be watched. */
const NO_PATH = '\0';

/** {ustring path; int type} */
function readKinds(reader: RequestReader): { readonly path: string; readonly kinds: readonly WatchKind[] } {
  const path = reader.nullableString() ?? NO_PATH;
  const kinds = KINDS[reader.int()];
  if (!kinds) throw new RangeError('no such kind of watch');
  return { path, kinds };
}
