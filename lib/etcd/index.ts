/**
 * The backend on etcd.
 * @module nestjs-distributed-lock/etcd
 */

export { etcd } from './etcd.backend.js';
export type { EtcdOptions, EtcdTlsOptions } from './etcd.options.js';
