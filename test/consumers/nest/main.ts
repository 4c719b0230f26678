import 'reflect-metadata';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { currentLease, DistributedLock, LockModule, zookeeper } from 'nestjs-distributed-lock';
import { EmbeddedZooKeeper } from 'nestjs-distributed-lock/testing';

const server = EmbeddedZooKeeper.start();

@Injectable()
class Orders {
  @DistributedLock((id: number) => `order/${id}`)
  async place(id: number): Promise<string> {
    return `${id} ${currentLease()?.state}`;
  }
}

@Module({
  imports: [
    LockModule.forRootAsync({
      useFactory: async () => ({ backend: zookeeper({ connectString: (await server).connectString }) }),
    }),
  ],
  providers: [Orders],
})
class AppModule {}

async function bootstrap(): Promise<void> {
  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  console.log(await app.get(Orders).place(42));
  await app.close();
  await (await server).stop();
}

void bootstrap();
