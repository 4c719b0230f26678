import './clock/skewed-clock.js';
import 'reflect-metadata';
import { NestFactory } from '@nestjs/core';
import { LockError } from 'nestjs-distributed-lock';
import { AppModule } from './app.module.js';
import { tellConductor } from './locks/lock-report.js';
import { settings } from './settings.js';

/** One instance of the shop. */
async function bootstrap(): Promise<void> {
  const app = await NestFactory.create(AppModule, { logger: ['error', 'warn'] });
  app.enableShutdownHooks();
  await app.listen(settings.port, '127.0.0.1');
  tellConductor({ kind: 'ready', url: await app.getUrl() });
}

// However the conductor ends, its instances end too.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'));

bootstrap().catch((error: unknown) => {
  console.error(error instanceof LockError ? error.message : error);
  process.exit(1);
});
