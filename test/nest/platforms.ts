import type { INestApplication, ModuleMetadata } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { Test } from '@nestjs/testing';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';
import { LockModule } from '../../lib/index.js';
import type { LockModuleExtras } from '../../lib/index.js';
import { observed } from '../unit/service/observed.backend.js';
import type { ObservedBackend } from '../unit/service/observed.backend.js';

export const PLATFORMS = { express: () => new ExpressAdapter(), fastify: () => new FastifyAdapter() };

export type Platform = keyof typeof PLATFORMS;

export interface ServedApp {
  readonly app: INestApplication;
  readonly backend: ObservedBackend;
  readonly url: string;
}

/** Starts a Nest application on its own port. It is closed when the test has finished. */
export async function serve(
  metadata: ModuleMetadata,
  extras: LockModuleExtras = {},
  configure: (app: INestApplication) => unknown = () => {},
  platform: Platform = 'express',
): Promise<ServedApp> {
  const definition = observed();
  const imports = [
    ...(metadata.imports ?? []),
    LockModule.forRoot({ service: 'test', backend: definition, localLine: false, waitMs: 0, ...extras }),
  ];
  const compiled = await Test.createTestingModule({ ...metadata, imports }).compile();
  const app = compiled.createNestApplication(PLATFORMS[platform]() as never, { logger: false });
  onTestFinished(() => app.close());
  await configure(app);
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  return { app, backend: definition.last, url: `http://127.0.0.1:${port}` };
}
