import { describe, inject } from 'vitest';
import { itHasBarriers } from '../../support/coordination/barrier-contract.js';
import { itQueues } from '../../support/coordination/queue-contract.js';
import { coordinated } from '../../support/coordination/services.js';
import { itSharesValues } from '../../support/coordination/value-contract.js';

const connectString = inject('zookeeper');

describe('in ZooKeeper', () => {
  const open = () => coordinated(connectString);
  itQueues(open);
  itHasBarriers(open);
  itSharesValues(open);
});
