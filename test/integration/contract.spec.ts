import { describe, inject, it } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { backendContract } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';

const basePath = freshBasePath();

describe('locks by ZooKeeper', () => {
  const backend = zookeeper({ connectString: inject('zookeeper'), basePath, sessionTimeoutMs: 10_000 });
  backendContract({ describe, it }, { open: () => backend.create(), limitMs: 30_000 });
});
