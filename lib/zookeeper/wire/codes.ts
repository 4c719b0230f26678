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
