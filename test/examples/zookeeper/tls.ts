import { readFileSync } from 'node:fs';
import { zookeeper } from 'nestjs-distributed-lock';

const connectString = 'zk1:2281,zk2:2281,zk3:2281/shop'; // the secureClientPort

/** The servers' certificates are signed by an authority that Node trusts. */
export const overTls = () => zookeeper({ connectString, tls: true });

/** They are signed by an authority of your own. */
export const withAuthority = (ca: string) => zookeeper({ connectString, tls: { ca: readFileSync(ca) } });

/** The servers ask for a client certificate, which is also the identity of the session. */
export const withCertificate = (folder: string) =>
  zookeeper({
    connectString,
    tls: {
      ca: readFileSync(`${folder}/ca.pem`),
      cert: readFileSync(`${folder}/shop.pem`),
      key: readFileSync(`${folder}/shop.key`),
      servername: 'zookeeper.internal', // where the certificates have one name for all servers
    },
    acl: [{ permissions: 31, scheme: 'x509', id: 'CN=shop,O=example' }],
  });
