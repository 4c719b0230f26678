import { NestFactory } from '@nestjs/core';
import { AppModule } from './app.module.js';

async function bootstrap() {
  const app = await NestFactory.create(AppModule);
  app.enableShutdownHooks(); // without it, SIGTERM leaves keys locked until the session times out
  await app.listen(3000);
}
void bootstrap();
