import { tmpdir } from 'node:os';
import { join } from 'node:path';

const { INSTANCE = 'A', PORT = '3000', SHOP_DIR = join(tmpdir(), 'shop'), LOCKS = 'on' } = process.env;

/** What one instance of the shop is told by its environment. ZOOKEEPER_CONNECT is read by the library itself. */
export const settings = {
  instance: INSTANCE,
  port: Number(PORT),
  /** Where all instances keep their files. */
  shopDir: SHOP_DIR,
  isLocked: LOCKS !== 'off',
};
