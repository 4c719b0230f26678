import { describe } from 'vitest';
import { MemoryRecords } from '../../../lib/memory/memory-records.js';
import { itKeepsRecords } from '../../support/records-contract.js';

describe('records in memory', () => {
  itKeepsRecords(async () => new MemoryRecords());
});
