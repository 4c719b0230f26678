export { ZooKeeperServer } from './zookeeper-server.js';
export type { ZooKeeperServerOptions } from './zookeeper-server.js';
export { FaultProxy } from './faults/fault-proxy.js';
export type { Direction } from './faults/fault-link.js';
