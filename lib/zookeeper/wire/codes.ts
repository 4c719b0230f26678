/** ZooKeeper's request types (org.apache.zookeeper.ZooDefs.OpCode), as far as this package sends them. */
export const OpCode = {
  create: 1,
  delete: 2,
  exists: 3,
  getData: 4,
  setData: 5,
  sync: 9,
  ping: 11,
  getChildren2: 12,
  check: 13,
  multi: 14,
  create2: 15,
  removeWatches: 18,
  createContainer: 19,
  setWatches: 101,
  closeSession: -11,
} as const;

export type OpCode = (typeof OpCode)[keyof typeof OpCode];

/** Transaction ids that do not number requests but denote a kind of message. */
export const Xid = { notification: -1, ping: -2, auth: -4 } as const;

/** Flags of a create. Containers have an op code of their own. */
export const CreateMode = {
  persistent: 0,
  ephemeral: 1,
  persistentSequential: 2,
  ephemeralSequential: 3,
  container: 4,
} as const;

export type CreateMode = (typeof CreateMode)[keyof typeof CreateMode];

/** ZooKeeper's error codes (org.apache.zookeeper.KeeperException.Code), as far as this package handles them. */
export const ErrorCode = {
  ok: 0,
  systemError: -1,
  runtimeInconsistency: -2,
  connectionLoss: -4,
  unimplemented: -6,
  operationTimeout: -7,
  badArguments: -8,
  noNode: -101,
  noAuth: -102,
  badVersion: -103,
  noChildrenForEphemerals: -108,
  nodeExists: -110,
  notEmpty: -111,
  sessionExpired: -112,
  invalidAcl: -114,
  authFailed: -115,
  sessionMoved: -118,
  quotaExceeded: -125,
  throttled: -127,
} as const;

/** The code's name, or the number itself for a code that is not listed. Newer servers have more codes. */
export function errorName(code: number): string {
  const found = Object.entries(ErrorCode).find(([, value]) => value === code);
  return found ? found[0] : `code ${code}`;
}
