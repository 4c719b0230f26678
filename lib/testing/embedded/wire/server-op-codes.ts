import { OpCode } from '../../../zookeeper/wire/codes.js';

/** All request types that a ZooKeeper 3.8 server knows (org.apache.zookeeper.ZooDefs.OpCode). */
export const ServerOpCode = {
  ...OpCode,
  exists: 3,
  getAcl: 6,
  setAcl: 7,
  getChildren: 8,
  reconfig: 16,
  checkWatches: 17,
  deleteContainer: 20,
  createTtl: 21,
  multiRead: 22,
  auth: 100,
  sasl: 102,
  getEphemerals: 103,
  getAllChildrenNumber: 104,
  setWatches2: 105,
  addWatch: 106,
  whoAmI: 107,
} as const;

export type ServerOpName = keyof typeof ServerOpCode;

const NAMES = new Map<number, ServerOpName>(
  Object.entries(ServerOpCode).map(([name, code]) => [code, name as ServerOpName]),
);

/**
 * Returns the name of a request type; `undefined` for one that ZooKeeper 3.8 does not know, or that a client may not
 * send.
 */
export function opName(code: number): ServerOpName | undefined {
  return NAMES.get(code);
}
