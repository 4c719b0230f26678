import { createServer as createHttpServer } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { onTestFinished } from 'vitest';
import { LockModule, zookeeper } from '../../../lib/index.js';
import type { ZooKeeperOptions } from '../../../lib/index.js';
import { EmbeddedZooKeeper } from '../../../lib/testing/index.js';
import { unusedPort } from '../../support/unused-port.js';
import { boot, refusalOf } from './mistake.js';
import type { Mistakes } from './mistake.js';

const starting = (options: ZooKeeperOptions) =>
  refusalOf(() =>
    boot({ imports: [LockModule.forRoot({ backend: zookeeper({ connectTimeoutMs: 500, ...options }) })] }),
  );

async function portOf(server: Server): Promise<number> {
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

/** Returns the messages when no ZooKeeper server answers. */
export const CONNECTED: Mistakes = {
  'nothing-listens': async () => starting({ connectString: `127.0.0.1:${await unusedPort()}` }),
  'unknown-host': () => starting({ connectString: 'zookeeper.invalid:2181' }),
  'http-server': async () => starting({ connectString: `127.0.0.1:${await portOf(createHttpServer())}` }),
  'tls-port': async () => starting({ connectString: `127.0.0.1:${await portOf(createTlsServer())}` }),
  'port-without-tls': async () => {
    const server = await EmbeddedZooKeeper.start();
    onTestFinished(() => server.stop());
    return starting({ connectString: server.connectString, tls: true });
  },
};
