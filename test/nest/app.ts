import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import type { TestingModule } from '@nestjs/testing';
import { onTestFinished } from 'vitest';
import { LockModule } from '../../lib/index.js';
import type { LockModuleOptions } from '../../lib/index.js';
import { observed } from '../unit/service/observed.backend.js';
import type { ObservedBackend } from '../unit/service/observed.backend.js';

export interface LockedApp {
  readonly app: INestApplication;
  readonly backend: ObservedBackend;
}

/** A started Nest application with a LockModule on a memory backend of its own; closed when the test has finished. */
export async function startApp(
  metadata: ModuleMetadata,
  options: Partial<LockModuleOptions> = {},
  configure: (app: INestApplication) => unknown = () => {},
): Promise<LockedApp> {
  const definition = observed();
  // Every caller is a contender of its own, so that the backend's are counted; test/nest/local-line.spec.ts has the other.
  const imports = [
    LockModule.forRoot({ service: 'test', backend: definition, localLine: false, ...options }),
    ...(metadata.imports ?? []),
  ];
  const app = await started(Test.createTestingModule({ ...metadata, imports }).compile(), configure);
  return { app, backend: definition.last };
}

/** Initialises the application, and closes it when the test has finished. */
export async function started(
  compiling: Promise<TestingModule>,
  configure: (app: INestApplication) => unknown = () => {},
): Promise<INestApplication> {
  const app = (await compiling).createNestApplication({ logger: false });
  await configure(app);
  onTestFinished(() => app.close());
  await app.init();
  return app;
}
