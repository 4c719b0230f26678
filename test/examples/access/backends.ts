import { readFileSync } from 'node:fs';
import { zookeeper } from 'nestjs-distributed-lock';
import { etcd } from 'nestjs-distributed-lock/etcd';
import { redis } from 'nestjs-distributed-lock/redis';

const tlsOf = (folder: string) => ({
  ca: readFileSync(`${folder}/ca.pem`),
  cert: readFileSync(`${folder}/shop.pem`),
  key: readFileSync(`${folder}/shop.key`),
  servername: 'server.internal',
});

export const onZooKeeperByPassword = (connectString: string, password: string) =>
  zookeeper({ connectString, auth: { scheme: 'digest', credentials: `shop:${password}` } });

/** The certificate is the identity: no password is needed. */
export const onZooKeeperByCertificate = (connectString: string, folder: string) =>
  zookeeper({ connectString, tls: tlsOf(folder), acl: [{ permissions: 31, scheme: 'x509', id: 'CN=shop' }] });

export const onRedis = (url: string, password: string, folder: string) =>
  redis({ url, username: 'shop', password, tls: tlsOf(folder) });

export const onEtcd = (hosts: string, password: string, folder: string) =>
  etcd({ hosts, username: 'shop', password, tls: tlsOf(folder) });
