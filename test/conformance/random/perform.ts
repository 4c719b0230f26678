import type { RawClient } from '../stage/raw-client.js';
import type { Stage } from '../stage/stage.js';
import { multi, multiRead } from '../wire/multi-requests.js';
import {
  check,
  create,
  create2,
  createContainer,
  createTtl,
  exists,
  getAcl,
  getAllChildrenNumber,
  getChildren,
  getChildren2,
  getData,
  getEphemerals,
  remove,
  setAcl,
  setData,
  sync,
} from '../wire/node-requests.js';
import type { Request } from '../wire/request.js';
import { auth, ping, whoAmI } from '../wire/session-requests.js';
import { addWatch, checkWatches, removeWatches, setWatches, setWatches2 } from '../wire/watch-requests.js';

import { CLIENTS } from './operation.js';
import type { Asked, Operation, ToTheConnection } from './operation.js';

const CREATES = { create, create2 } as const;
const READS = { exists, getData, getChildren, getChildren2 } as const;
const LOOKS = { getAcl, sync, getEphemerals, getAllChildrenNumber } as const;
const WATCHES = { addWatch, removeWatches, checkWatches } as const;

/** A separate root, because the server's own root shows what other sequences have done before. */
const ROOT = '/r';

/** Nodes that exist at the start: on an empty tree, most operations would fail in the same way. */
const MADE_BEFORE = [ROOT, '/r/a', '/r/b', '/r/a/x'];

/** Longer than any run, because the server deletes expired nodes at times of its own. */
const TTL_MS = 10_000_000;

/** Performs all operations with some clients, one after the other, and records the final tree. */
export async function perform(stage: Stage, operations: readonly Operation[]): Promise<void> {
  const clients = CLIENTS.map((name) => stage.client(name));
  for (const client of clients) await client.connect();
  for (const path of MADE_BEFORE) await clients[0]!.ask(create(path));
  for (const operation of operations) {
    const client = clients[operation.by]!;
    if (!client.isOpen) await client.connect();
    await performOne(stage, client, operation);
  }
  await stage.sayTree(ROOT);
}

async function performOne(stage: Stage, client: RawClient, operation: Operation): Promise<void> {
  switch (operation.do) {
    case 'begin again':
      await client.close();
      await client.connect();
      break;
    case 'come back':
      await comeBack(stage, client, operation);
      break;
    case 'move':
      await client.resume();
      break;
    default:
      await client.ask(requestOf(operation));
  }
}

async function comeBack(
  stage: Stage,
  client: RawClient,
  { how, ago, known, knowsPersistent }: ToTheConnection & { do: 'come back' },
): Promise<void> {
  await client.drop(how);
  const since = client.lastZxid - BigInt(ago);
  await client.resume(client, { lastZxid: client.lastZxid });
  const told = stage.names.zxid(since);
  await client.ask(knowsPersistent ? setWatches2(since, told, known) : setWatches(since, told, known));
}

function requestOf(operation: Asked): Request {
  switch (operation.do) {
    case 'multi':
      return multi(operation.ops.map(requestOf));
    case 'multiRead':
      return multiRead(operation.ops.map(requestOf));
    case 'create':
    case 'create2':
      return CREATES[operation.do](operation.path, operation);
    case 'createContainer':
      return createContainer(operation.path, { ...operation, flags: 4 });
    case 'createTtl':
      return createTtl(operation.path, TTL_MS, { ...operation, flags: operation.flags % 2 === 0 ? 5 : 6 });
    case 'delete':
      return remove(operation.path, operation.version);
    case 'check':
      return check(operation.path, operation.version);
    case 'setData':
      return setData(operation.path, operation.data, operation.version);
    case 'setAcl':
      return setAcl(operation.path, operation.acl, operation.version);
    case 'exists':
    case 'getData':
    case 'getChildren':
    case 'getChildren2':
      return READS[operation.do](operation.path, operation.watch);
    case 'getAcl':
    case 'sync':
    case 'getEphemerals':
    case 'getAllChildrenNumber':
      return LOOKS[operation.do](operation.path);
    case 'addWatch':
    case 'removeWatches':
    case 'checkWatches':
      return WATCHES[operation.do](operation.path, operation.kind);
    case 'auth':
      return auth('digest', operation.password);
    case 'whoAmI':
      return whoAmI;
    case 'ping':
      return ping;
  }
}
