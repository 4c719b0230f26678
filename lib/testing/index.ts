export { ZooKeeperServer } from './zookeeper-server.js';
export type { ZooKeeperServerOptions } from './zookeeper-server.js';
