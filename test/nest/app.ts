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

/** Starts a Nest application with a LockModule on its own memory backend. It is closed when the test has finished. */
export async function startApp(
  metadata: ModuleMetadata,
  options: Partial<LockModuleOptions> = {},
  configure: (app: INestApplication) => unknown = () => {},
): Promise<LockedApp> {
  const definition = observed();
  // Each caller is a separate contender, so that tests can count them. test/nest/local-line.spec.ts covers the local
  // queue.
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
