export { ZooKeeperServer } from './zookeeper-server.js';
export type { ZooKeeperServerOptions } from './zookeeper-server.js';
export { ZooKeeperEnsemble } from './zookeeper-ensemble.js';
export type { ZooKeeperEnsembleOptions } from './zookeeper-ensemble.js';
export type { EnsembleServer, ServerMode } from './ensemble-server.js';
export { FaultProxy } from './faults/fault-proxy.js';
export type { Direction } from './faults/fault-link.js';
