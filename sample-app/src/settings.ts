import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { INSTANCE = 'A', PORT = '3000', SHOP_DIR = join(tmpdir(), 'shop'), LOCKS = 'on' } = process.env;
const { BACKEND = 'zookeeper', RESTART_DELAY_MS } = process.env;

/** The settings of one instance of the shop, from its environment. The library reads ZOOKEEPER_CONNECT, REDIS_URL and ETCD_HOSTS itself. */
export const settings = {
  instance: INSTANCE,
  port: Number(PORT),
  /** The directory of the files that all instances share. */
  shopDir: SHOP_DIR,
  isLocked: LOCKS !== 'off',
  backend: BACKEND as 'zookeeper' | 'redis' | 'etcd',
  /** The time for which a Redis server that was restarted grants no free key. */
  restartDelayMs: RESTART_DELAY_MS === undefined ? undefined : Number(RESTART_DELAY_MS),
};
