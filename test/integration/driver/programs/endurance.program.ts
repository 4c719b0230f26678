import { Logger } from '@nestjs/common';
import driver from 'node-zookeeper-client';
import type { Lease } from '../../../../lib/contract/lease.js';
import { LockService } from '../../../../lib/service/lock.service.js';
import { askFourLetterWord } from '../../../../lib/testing/four-letter-word.js';
import { ZooKeeperFaultProxy } from '../../../../lib/testing/index.js';
import { zookeeper } from '../../../../lib/zookeeper/zookeeper.backend.js';
import { hangUp, ordersOf, say } from './orders.js';

// Any other output of this program is an error.
Logger.overrideLogger(false);

// Many services, each with a holder and a waiter of one key, behind a network that fails repeatedly. Reports, every
// `lookEvery` rounds, the memory, watches, driver instances, timers and sockets.
const {
  port,
  services: count,
  rounds,
  expireEvery,
  lookEvery,
} = ordersOf<{
  port: number;
  services: number;
  rounds: number;
  /** Every `expireEvery` rounds the sessions expire. In the other rounds they are disconnected. */
  expireEvery: number;
  lookEvery: number;
}>();

const instances: WeakRef<object>[] = [];
const { createClient } = driver;
driver.createClient = (...args) => {
  const client = createClient(...args);
  instances.push(new WeakRef(client));
  return client;
};
let warnings = 0;
process.on('warning', () => warnings++);

const proxy = await ZooKeeperFaultProxy.open(port);
const held = new Set<Lease>();
let isOver = false;

function opened(index: number): LockService {
  const { connectString } = proxy;
  const definition = zookeeper({ connectString, sessionTimeoutMs: 8_000, basePath: `/endurance-${index}` });
  return new LockService(definition.create(), {
    connectionName: 'default',
    waitMs: Infinity,
    drainTimeoutMs: 0,
    connectOnStart: 'required',
    localLine: false,
  });
}

/** Acquires, holds until the lease is lost, and repeats. */
async function contend(service: LockService): Promise<void> {
  while (!isOver) {
    const lease = await service.acquire('k', { reentrant: false }).catch(() => undefined);
    if (!lease) continue;
    held.add(lease);
    await new Promise((resolve) => lease.signal.addEventListener('abort', resolve, { once: true }));
    held.delete(lease);
    await lease.release();
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
const watchesKept = async () => Number(/Total watches:(\d+)/.exec(await askFourLetterWord(port, 'wchs'))?.[1]);

/** Resolves when every service holds its key and has a waiter for it. Each of the two watches its own znode. */
async function calm(): Promise<void> {
  const isCalm = () => held.size === count && [...held].every((lease) => lease.state === 'held');
  while (!isCalm() || proxy.connections !== count || (await watchesKept()) !== 2 * count) await pause(10);
}

/** A separate function, so that no variable keeps the previous leases alive. */
async function fail(round: number): Promise<void> {
  const [accepted, leases] = [proxy.accepted, [...held]];
  const expires = round % expireEvery === 0;
  if (expires) await proxy.expireSessions();
  proxy.disconnect(round % 2 === 0 ? 'rst' : 'fin');
  while (proxy.accepted < accepted + count) await pause(5);
  while (expires && leases.some((lease) => held.has(lease))) await pause(5);
  await calm();
}

async function look(): Promise<object> {
  // Repeated with turns between, because what a finalizer releases is only collected by the next run.
  for (let time = 0; time < 3; time++) {
    global.gc?.();
    await pause(20);
  }
  return {
    heapBytes: process.memoryUsage().heapUsed,
    watches: await watchesKept(),
    drivers: instances.filter((instance) => instance.deref()).length,
    resources: process.getActiveResourcesInfo().length,
    connections: proxy.connections,
    warnings,
  };
}

const services = Array.from({ length: count }, (_, index) => opened(index));
await Promise.all(services.map((service) => service.onModuleInit()));
const contending = services.flatMap((service) => [contend(service), contend(service)]);
await calm();
say(await look());
for (let round = 1; round <= rounds; round++) {
  await fail(round);
  if (round % lookEvery === 0) say(await look());
}
isOver = true;
for (const service of services) service.beforeApplicationShutdown();
await Promise.all(services.map((service) => service.onApplicationShutdown()));
await Promise.all(contending);
await proxy.close();
hangUp();
