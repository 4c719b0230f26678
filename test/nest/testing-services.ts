import { Test } from '@nestjs/testing';
import { CoordinationService, LeaderElectionService, LockService } from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import type { LockTestingModuleOptions } from '../../lib/testing/index.js';
import { started } from './app.js';

/** The services of an application under `LockTestingModule`, with its `LockTesting`. */
export async function startTesting(options: LockTestingModuleOptions = {}) {
  const app = await started(Test.createTestingModule({ imports: [LockTestingModule.forRoot(options)] }).compile());
  return {
    app,
    locks: app.get(LockTesting),
    service: app.get(LockService),
    coordination: app.get(CoordinationService),
    elections: app.get(LeaderElectionService),
  };
}
