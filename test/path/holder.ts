/** A process with its own server. On request it holds the key until another contender waits for it. */
import { NestFactory } from '@nestjs/core';
import { LockModule, LockService, zookeeper } from '../../lib/index.js';
import { EmbeddedZooKeeper } from '../../lib/testing/index.js';
import { KEY, SETTLED_MS } from './key.js';

const server = await EmbeddedZooKeeper.start();
const { connectString } = server;
const module = LockModule.forRoot({ service: 'path', localLine: false, backend: zookeeper({ connectString }) });
const app = await NestFactory.createApplicationContext(module, { logger: false });
const lock = app.get(LockService).mutex(KEY);

process.on('disconnect', () => process.exit(0));
process.on('message', () => void hold());
process.send?.(connectString);

async function hold(): Promise<void> {
  const lease = await lock.acquire();
  process.send?.('held');
  while ((await watchedContenders()) < 2) await pause(10);
  // By then the waiting contender knows that its watches are set.
  await pause(SETTLED_MS);
  await lease.release();
}

/** A contender that waits watches its own znode, and that of the holder. */
async function watchedContenders(): Promise<number> {
  const watches = await server.ask('wchp');
  return watches.split('\n').filter((line) => line.includes('-lock-')).length;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
