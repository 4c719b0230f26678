import { describe, inject, it } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { backendContract } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';
import { queuedContract } from '../support/sharing/queued-contract.js';

const basePath = freshBasePath();

describe('locks by ZooKeeper', () => {
  const backend = zookeeper({ connectString: inject('zookeeper'), basePath, sessionTimeoutMs: 10_000 });
  backendContract({ describe, it }, { open: () => backend.create(), limitMs: 30_000 });
});

describe('local queues over locks by ZooKeeper', () => {
  const connectString = inject('zookeeper');
  const backend = zookeeper({ connectString, basePath: freshBasePath(), sessionTimeoutMs: 10_000 });
  queuedContract({ open: () => backend.create(), limitMs: 30_000 });
});
