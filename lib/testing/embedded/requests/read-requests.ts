import type { ReplyBody } from '../wire/reply-writer.js';
import type { RequestReader } from '../wire/request-reader.js';
import type { ServerOpName } from '../wire/server-op-codes.js';
import type { Client } from './client.js';
import { multiRead } from './multi.js';
import {
  countDescendants,
  exists,
  ownEphemerals,
  readAcl,
  readChildren,
  readChildren2,
  readData,
  whoAmI,
} from './read.js';
import { addWatch, checkWatches, removeWatches, setWatches } from './watch.js';

type Handler = (reader: RequestReader, client: Client) => ReplyBody;

/** {ustring path; bool watch} */
const ofPathAndWatch =
  (read: (path: string, watch: boolean, client: Client) => ReplyBody): Handler =>
  (reader, client) =>
    read(reader.string(), reader.bool(), client);

/** {ustring path} */
const ofPath =
  (read: (path: string, client: Client) => ReplyBody): Handler =>
  (reader, client) =>
    read(reader.string(), client);

/** The requests that are answered from this server's own state, and that change nothing but watches. */
export const READ_REQUESTS: Readonly<Partial<Record<ServerOpName, Handler>>> = {
  exists: ofPathAndWatch(exists),
  getData: ofPathAndWatch(readData),
  getChildren: ofPathAndWatch(readChildren),
  getChildren2: ofPathAndWatch(readChildren2),
  getAcl: ofPath(readAcl),
  getAllChildrenNumber: ofPath(countDescendants),
  getEphemerals: (reader, client) => ownEphemerals(reader.nullableString(), client),
  whoAmI: (_reader, client) => whoAmI(client),
  multiRead,
  setWatches: (reader, client) => setWatches(reader, client, false),
  setWatches2: (reader, client) => setWatches(reader, client, true),
  addWatch,
  checkWatches,
  removeWatches,
  ping: () => () => {},
};
