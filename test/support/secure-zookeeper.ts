import { onTestFinished } from 'vitest';
import { ZooKeeperServer } from '../../lib/testing/index.js';
import { makeIdentities } from './certificates.js';
import { unusedPort } from './unused-port.js';

/** A server with TLS on a second port, for clients with a trusted certificate. It stops when the test ends. */
export async function secureServer(systemProperties: Readonly<Record<string, string>> = {}) {
  const { identities, trustStore } = await makeIdentities({ server: 'zk.test', client: 'shop.test' });
  const secureClientPort = await unusedPort();
  const { keyStore, password } = identities.server;
  const server = await ZooKeeperServer.start({
    systemProperties,
    settings: {
      secureClientPort,
      secureClientPortAddress: '127.0.0.1',
      serverCnxnFactory: 'org.apache.zookeeper.server.NettyServerCnxnFactory',
      'ssl.keyStore.location': keyStore,
      'ssl.keyStore.password': password,
      'ssl.trustStore.location': trustStore,
      'ssl.trustStore.password': password,
      'ssl.hostnameVerification': false,
    },
  });
  onTestFinished(() => server.stop());
  const { pfx, password: passphrase } = identities.client;
  const trusted = { ca: identities.server.pem, servername: 'zk.test', pfx, passphrase };
  return { server, port: secureClientPort, connectString: `127.0.0.1:${secureClientPort}`, trusted };
}
