import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster } from './cluster.js';
import { bold } from './style.js';
import type { Environment } from './warm-process.js';

/** The number of an order that nobody places, and whose holder hangs. */
const HUNG = 999_999;
const HOT = 7;
const REVOKED_AFTER_MS = 60_000;
const GRACE_MS = 5_000;
const QUIET_MS = 10_000;

/** Opens the shop with its page of locks, and gives the page something to show until the signal aborts. */
export async function watch(env: Environment, signal: AbortSignal): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'shop-'));
  try {
    const listener = { onReport: () => {}, onOutput: (instance: string, line: string) => say(`[${instance}] ${line}`) };
    await using shop = await Cluster.open({ ...env, LOCKS: 'on', SHOP_DIR: dir }, listener, signal);
    await shop.fill();
    console.log(`\n${bold('The page of locks')}  ${shop.instances[0]!.url}/locks\n`);
    say('each instance has it: all show the same cluster, and each its own session');
    const scenes = [orders(shop, signal), hotKey(shop, signal), hungHolder(shop, signal)];
    await Promise.all(scenes);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const say = (line: string) => console.log(`  ${line}`);

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
