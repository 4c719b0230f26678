import { etcd } from '../../lib/etcd/index.js';
import { EtcdServer } from '../../lib/testing/index.js';
import { eventually } from '../support/eventually.js';
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
    const ofSessions = async () => {
      const keys = await keysBelow(server, `${basePath}/`);
      return keys.filter((key) => /\/(lock|permits|election|session)\//.test(key)).length;
    };
    // A busy server ends a lease later than close() waits, and long before its time.
    await eventually(async () => (await ofSessions()) === 0, 'no key of a session is left');
    return ofSessions();
  },
  backend: (basePath) => etcd({ hosts: server.host, basePath, sessionTimeoutMs: 120_000 }),
});
