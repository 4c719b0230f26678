import { afterAll, beforeAll, describe, it } from 'vitest';
import { zookeeper } from '../../lib/index.js';
import { backendFaults, ZooKeeperFaultProxy, ZooKeeperServer } from '../../lib/testing/index.js';
import { freshBasePath } from '../support/base-path.js';

/** Sessions of up to 20 s, of which none may end while a server starts on a busy machine. */
const SETTINGS = { maxSessionTimeout: 60_000 };

let server: ZooKeeperServer;
let proxy: ZooKeeperFaultProxy;

// A server of its own: it is paused and restarted.
beforeAll(async () => {
  server = await ZooKeeperServer.start({ tickTimeMs: 500, settings: SETTINGS });
});

afterAll(() => server.stop());

describe('locks by ZooKeeper', () => {
  const basePath = freshBasePath();
  backendFaults(
    { describe, it },
    {
      server: () => server,
      sessionTimeoutMs: 2_000,
      open: ({ port, sessionTimeoutMs }) =>
        zookeeper({
          connectString: `127.0.0.1:${port}`,
          basePath,
          sessionTimeoutMs,
          connectTimeoutMs: 5_000,
        }).create(),
      openProxy: async (port) => (proxy = await ZooKeeperFaultProxy.open(port)),
      expire: () => proxy.expireSessions(),
    },
  );
});
