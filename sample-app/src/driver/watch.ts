import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { FaultProxy } from 'nestjs-distributed-lock/testing';
import { ShopFiles } from '../files/shop-files.js';
import { Activity } from './activity.js';
import { Cluster } from './cluster.js';
import { SHORT } from './options.js';
import type { Stage } from './scene.js';
import { coupons } from './scenes/coupons.js';
import { jobs } from './scenes/jobs.js';
import { bold } from './style.js';
import type { Environment } from './warm-process.js';

/** The number of an order that nobody places, and whose holder hangs. */
const HUNG = 999_999;
const HOT = 7;
const REVOKED_AFTER_MS = 60_000;
const GRACE_MS = 5_000;
const QUIET_MS = 10_000;
/** The instance whose link to the servers is cut now and then. */
const FLAPPING = 'C';
const CUT_EACH_MS = 30_000;
const CUT_FOR_MS = 3_000;
const DAILY_EACH_MS = 5_000;

/** Opens the shop with its page of locks, and gives the page something to show until the signal aborts. */
export async function watch(env: Environment, signal: AbortSignal): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'shop-'));
  try {
    const listener = { onReport: () => {}, onOutput: (instance: string, line: string) => say(`[${instance}] ${line}`) };
    await using link = await FaultProxy.open(serverOf(env));
    const own = { [FLAPPING]: through(link, env) };
    const all = { ...env, LOCKS: 'on', SHOP_DIR: dir };
    await using shop = await Cluster.open(all, listener, signal, undefined, own);
    await shop.fill();
    const { url } = shop.instances[0]!;
    console.log(`\n${bold('The page of locks')}  ${url}/locks\n`);
    say('each instance has it: all show the same cluster, and each its own session');
    say(`beside it: ${url}/metrics for Prometheus, ${url}/health/ready`);
    say(`instances: ${shop.instances.map((one) => `[${one.name}] ${one.url}`).join(' ')}`);
    say(`by command: ${commandFor(env, basename(dir))}`);
    const scenes = [
      dailyWork(shop, new ShopFiles(dir), signal),
      orders(shop, signal),
      hotKey(shop, signal),
      hungHolder(shop, signal),
      flappingLink(shop, link, signal),
    ];
    await Promise.all(scenes);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const say = (line: string) => console.log(`  ${line}`);

/** Work for every view of the page: a leader, a job that runs each second, a queue with its shifts, a stock. */
async function dailyWork(shop: Cluster, files: ShopFiles, signal: AbortSignal): Promise<void> {
  const stage: Stage = { shop, files, activity: new Activity(), sizes: SHORT, signal };
  await Promise.all(shop.instances.map((instance) => instance.put('/reports/schedule')));
  while (!signal.aborted) {
    await jobs.play(stage);
    await coupons.play(stage);
    await pause(DAILY_EACH_MS, undefined, { signal });
  }
}

/** Orders that come all the time, one at a time for each of them. */
async function orders(shop: Cluster, signal: AbortSignal): Promise<void> {
  for (let id = 1_000; !signal.aborted; id++) {
    await Promise.all(shop.instances.map((instance) => instance.post(`/orders/${id}/place`, { cents: 999 })));
    await pause(200, undefined, { signal });
  }
}

/** A key that all instances want at once: its wait queue grows and shrinks, and it is handed over in turn. */
async function hotKey(shop: Cluster, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const buyers = Array.from({ length: 20 }, () => shop.next.post(`/orders/${HOT}/review`));
    await Promise.all(buyers);
    await pause(1_000, undefined, { signal });
  }
}

/** A holder that hangs while others wait. Somebody finds it on the page and revokes it; after a minute, this does. */
async function hungHolder(shop: Cluster, signal: AbortSignal): Promise<void> {
  const key = `order/${HUNG}`;
  while (!signal.aborted) {
    const hung = shop.instances[1]!.post(`/orders/${HUNG}/hang`);
    await pause(500, undefined, { signal });
    const waiting = shop.instances.map((instance) => instance.post(`/orders/${HUNG}/place`, { cents: 1 }));
    say(`the holder of ${key} hangs: find it on the page, and revoke it. After a minute it is revoked from here`);
    const patience = new AbortController();
    const revoking = pause(REVOKED_AFTER_MS, undefined, { signal: AbortSignal.any([signal, patience.signal]) }).then(
      () => shop.instances[0]!.revoke(key, GRACE_MS),
      () => false,
    );
    await hung;
    patience.abort();
    await Promise.all([revoking, ...waiting]);
    say(`${key} was revoked, and its wait queue went on`);
    await pause(QUIET_MS, undefined, { signal });
  }
}

/** A link that is cut for a part of a session, again and again: the session is suspended, and nothing is lost. */
async function flappingLink(shop: Cluster, link: FaultProxy, signal: AbortSignal): Promise<void> {
  const { url } = shop.instances.find(({ name }) => name === FLAPPING)!;
  say(`the link of [${FLAPPING}] flaps: ${url}/locks#/instance shows when its session is suspended`);
  while (!signal.aborted) {
    await pause(CUT_EACH_MS, undefined, { signal });
    link.refuse();
    link.disconnect();
    await pause(CUT_FOR_MS, undefined, { signal });
    link.heal();
  }
}

/** The command that lists what the shop's locks are held by. */
function commandFor({ REDIS_URL, ETCD_HOSTS, ZOOKEEPER_CONNECT = '' }: Environment, shop: string): string {
  const list = 'npx nestjs-distributed-lock list';
  if (REDIS_URL !== undefined) return `REDIS_URL=${REDIS_URL} ${list} --backend redis --base-path ${shop}`;
  if (ETCD_HOSTS !== undefined) return `${list} --backend etcd --connect ${ETCD_HOSTS} --base-path ${shop}`;
  return `${list} --connect ${ZOOKEEPER_CONNECT} --base-path /${shop}`;
}

/** The address of the first server, as `host:port`. */
function serverOf({ REDIS_URL, ETCD_HOSTS, ZOOKEEPER_CONNECT = '' }: Environment): string {
  if (REDIS_URL !== undefined) return new URL(REDIS_URL).host;
  return (ETCD_HOSTS ?? ZOOKEEPER_CONNECT).split(/[,/]/)[0]!;
}

/** The environment of an instance that reaches the server through the link only. */
function through(link: FaultProxy, env: Environment): Environment {
  const replaced = Object.entries(env).map(([name, value]) => [name, value.replace(serverOf(env), link.connectString)]);
  return Object.fromEntries(replaced) as Environment;
}
