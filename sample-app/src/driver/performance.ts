import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShopFiles } from '../files/shop-files.js';
import { Activity } from './activity.js';
import { isDone } from './answer.js';
import { Cluster } from './cluster.js';
import { LiveView } from './live-view.js';
import type { Sizes } from './options.js';
import type { Scene, Stage } from './scene.js';
import { SCENES } from './scenes/index.js';
import { bold } from './style.js';
import { rowInWords } from './table.js';
import type { Row } from './table.js';
import type { Environment, WarmProcess } from './warm-process.js';

export interface Performance {
  readonly rows: readonly Row[];
  /** The time of the first reported lease, in milliseconds since this process began. */
  readonly firstHeldMs: number | undefined;
}

/** Plays every scene on five new instances, with their own files. One of the instances may already be warm. */
export async function perform(
  env: Environment,
  sizes: Sizes,
  signal: AbortSignal,
  first?: WarmProcess,
): Promise<Performance> {
  const dir = await mkdtemp(join(tmpdir(), 'shop-'));
  try {
    return await performIn({ ...env, SHOP_DIR: dir }, sizes, signal, first);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function performIn(
  env: Environment & { readonly SHOP_DIR: string },
  sizes: Sizes,
  signal: AbortSignal,
  first?: WarmProcess,
): Promise<Performance> {
  const activity = new Activity();
  const view = new LiveView(activity);
  const listener = {
    onReport: activity.apply.bind(activity),
    onOutput: (instance: string, line: string) => view.say(`    [${instance}] ${line}`),
  };
  await using shop = await Cluster.open(env, listener, signal, first);
  await opening(shop);
  const { firstHeldMs } = activity;
  await shop.fill();
  view.say(`  ${shop.instances.map(({ name, pid }) => `[${name}] is process ${pid}`).join(', ')}`);
  const stage = { shop, files: new ShopFiles(env.SHOP_DIR), activity, sizes, signal };
  const rows: Row[] = [];
  for (const scene of SCENES) rows.push(await playScene(scene, stage, view));
  return { rows, firstHeldMs };
}

/** Places one order before the other instances start. It measures the time from nothing to the first lease. */
async function opening({ next }: Cluster): Promise<void> {
  const answer = await next.post('/orders/0/place', { cents: 100 });
  if (!isDone(answer)) throw new Error(`the first order was answered with HTTP ${answer.status}`);
}

async function playScene(scene: Scene, stage: Stage, view: LiveView): Promise<Row> {
  view.say(`\n  ${bold(scene.name)}: ${scene.story}`);
  view.start();
  const outcome = await scene.play(stage).finally(() => view.stop());
  const row = { scene, outcome };
  view.say(rowInWords(row));
  return row;
}
