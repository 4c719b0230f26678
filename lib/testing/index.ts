/**
 * Tools for the tests of an application: locks in memory, an embedded ZooKeeper, faults of the network.
 * @module nestjs-distributed-lock/testing
 */

export { ZooKeeperServer } from './zookeeper-server.js';
export type { ZooKeeperServerOptions } from './zookeeper-server.js';
export type { ZooKeeperSettings } from './zookeeper-config.js';
export { ZooKeeperEnsemble } from './zookeeper-ensemble.js';
export type { ZooKeeperEnsembleOptions } from './zookeeper-ensemble.js';
export { RedisServer } from './redis-server.js';
export type { RedisServerOptions } from './redis-server.js';
export { EtcdServer } from './etcd-server.js';
export type { EtcdServerOptions } from './etcd-server.js';
export type { EnsembleServer, ServerMode } from './ensemble-server.js';
export { FaultProxy } from './faults/fault-proxy.js';
export type { ProxyTarget } from './faults/fault-proxy.js';
export type { Direction } from './faults/fault-link.js';
export { ZooKeeperFaultProxy } from './zookeeper-faults/zookeeper-fault-proxy.js';
export { LockTesting } from './nest/lock-testing.js';
export { getLockTestingToken, InjectLockTesting, LockTestingModule } from './nest/lock-testing.module.js';
export type { LockTestingModuleOptions } from './nest/lock-testing.module.js';
export type { LockTestingMode, LockTestingOptions } from './nest/lock-testing.options.js';
export type { Journal, JournalEntry, JournalEvent, JournalQuery } from './nest/journal.js';
export type { OtherContender, OtherMode } from './nest/other-contender.js';
export { BACKEND_CHECKS, backendContract } from './backend-contract/backend-contract.js';
export type { ContractRunner } from './backend-contract/backend-contract.js';
export type { ContractCheck } from './backend-contract/contract-check.js';
export type { ContractSubject } from './backend-contract/contract-stage.js';
export { BACKEND_FAULT_CHECKS, backendFaults } from './backend-faults/backend-faults.js';
export type { FaultCheck } from './backend-faults/fault-check.js';
export type { FaultAbility, FaultServer, FaultSubject, ClientTarget } from './backend-faults/fault-subject.js';
export { EmbeddedZooKeeper } from './embedded/embedded-zookeeper.js';
export { EmbeddedEnsemble } from './embedded/embedded-ensemble.js';
export type { DrawnMs, EmbeddedEnsembleOptions } from './embedded/embedded-ensemble.options.js';
export type { EnsembleMember } from './embedded/ensemble-member.js';
export type { EmbeddedZooKeeperOptions } from './embedded/embedded.options.js';
export type { EmbeddedNode, EmbeddedZnode, FaultTarget } from './embedded/embedded-node.js';
export type { EmbeddedSession } from './embedded/embedded-session.js';
