import { describe } from 'vitest';
import { itHasBarriers } from '../../support/coordination/barrier-contract.js';
import { itQueues } from '../../support/coordination/queue-contract.js';
import { itSharesValues } from '../../support/coordination/value-contract.js';
import { inMemory } from './in-memory.js';

describe('in memory', () => {
  itQueues(inMemory);
  itHasBarriers(inMemory);
  itSharesValues(inMemory);
});
