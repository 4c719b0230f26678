import { describe, it } from 'vitest';
import { memory } from '../../../lib/memory/memory.backend.js';
import { backendContract } from '../../../lib/testing/index.js';

describe('locks in memory', () => {
  backendContract({ describe, it }, { open: () => memory().create(), isLocal: true });
});
