import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShopFiles } from '../files/shop-files.js';
import { Activity } from './activity.js';
import { Cluster } from './cluster.js';
import { LiveView } from './live-view.js';
import type { Sizes } from './options.js';
import type { Scene, Stage } from './scene.js';
import { SCENES } from './scenes/index.js';
import { bold } from './style.js';
import { rowInWords } from './table.js';
import type { Row } from './table.js';

type Environment = Readonly<Record<string, string>>;

/** Plays every scene on five fresh instances, with files of their own. */
export async function perform(env: Environment, sizes: Sizes, signal: AbortSignal): Promise<readonly Row[]> {
  const dir = await mkdtemp(join(tmpdir(), 'shop-'));
  try {
    return await performIn(dir, env, sizes, signal);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function performIn(dir: string, env: Environment, sizes: Sizes, signal: AbortSignal): Promise<readonly Row[]> {
  const activity = new Activity();
  const view = new LiveView(activity);
  const listener = {
    onReport: activity.apply.bind(activity),
    onOutput: (instance: string, line: string) => view.say(`    [${instance}] ${line}`),
  };
  await using shop = await Cluster.start({ ...env, SHOP_DIR: dir }, listener, signal);
  view.say(`  ${shop.instances.map(({ name, pid }) => `[${name}] is process ${pid}`).join(', ')}`);
  const stage = { shop, files: new ShopFiles(dir), activity, sizes, signal };
  const rows: Row[] = [];
  for (const scene of SCENES) rows.push(await playScene(scene, stage, view));
  return rows;
}

async function playScene(scene: Scene, stage: Stage, view: LiveView): Promise<Row> {
  view.say(`\n  ${bold(scene.name)}: ${scene.story}`);
  view.start();
  const outcome = await scene.play(stage).finally(() => view.stop());
  const row = { scene, outcome };
  view.say(rowInWords(row));
  return row;
}
