import { describe } from 'vitest';
import { memory } from '../../../lib/memory/memory.backend.js';
import { queuedContract } from '../../support/sharing/queued-contract.js';

describe('local queues over locks in memory', () => {
  queuedContract({ open: () => memory().create(), isLocal: true });
});
