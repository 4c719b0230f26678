import { etcd } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { nestApplicationOn } from '../support/nest-application.js';
import { keysBelow } from './support/clients.js';

let server: EtcdServer;

nestApplicationOn({
  name: 'etcd',
  start: async () => {
    server = await EtcdServer.start();
  },
  stop: () => server.stop(),
  left: async (basePath) => {
    const keys = await keysBelow(server, `${basePath}/`);
    return keys.filter((key) => /\/(lock|permits|election|session)\//.test(key)).length;
  },
  backend: (basePath) => etcd({ hosts: server.host, basePath, sessionTimeoutMs: 2_000 }),
});
