import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../lib/contract/errors.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import type { ZooKeeperTls } from '../../../lib/zookeeper/zookeeper.options.js';
import { selfSigned } from '../../support/self-signed.js';

const PASSPHRASE = 'open-sesame';
const own = selfSigned(PASSPHRASE);
const another = selfSigned(PASSPHRASE);

function refusalOf(tls: unknown): LockConfigurationError {
  try {
    zookeeper({ tls: tls as ZooKeeperTls });
  } catch (error) {
    if (error instanceof LockConfigurationError) return error;
    throw error;
  }
  throw new Error('the options were taken');
}

const { cert, key, encryptedKey } = own;

describe('the TLS options of zookeeper()', () => {
  it.each<[string, boolean | ZooKeeperTls]>([
    ['nothing but that', true],
    ['no fields', {}],
    ['authorities', { ca: cert }],
    ['several authorities in one text', { ca: `${cert}\n# the other\n${another.cert}` }],
    ['several authorities in several', { ca: [cert, Buffer.from(another.cert)] }],
    ['a certificate and its key', { cert, key }],
    ['buffers', { ca: Buffer.from(cert), cert: Buffer.from(cert), key: Buffer.from(key) }],
    ['a key with its passphrase', { cert, key: encryptedKey, passphrase: PASSPHRASE }],
    ['a key that brings its passphrase', { cert, key: [{ pem: encryptedKey, passphrase: PASSPHRASE }] }],
    ['the rest', { servername: 'zk.test', rejectUnauthorized: true, minVersion: 'TLSv1.3' }],
  ])('are accepted: %s', (_what, tls) => {
    expect(zookeeper({ tls }).name).toBe('zookeeper');
  });

  it.each<[string, unknown, RegExp]>([
    ['authorities that are none', { ca: 'garbage' }, /^tls\.ca must be certificates .*"garbage"/],
    ['the name of a file', { ca: '/etc/ca.pem' }, /^tls\.ca must be .*not the name of a file, got .*"\/etc\/ca\.pem"/],
    ['no authorities', { ca: [] }, /^tls\.ca must be .*an array of 0/],
    ['one authority that is none', { ca: [cert, 'garbage'] }, /^tls\.ca must be/],
    ['an authority of another type', { ca: 5 }, /^tls\.ca must be .*the number 5/],
    ['an authority cut short', { ca: cert.slice(0, 300) }, /^tls\.ca must be/],
    ['an authority that cannot be read', { ca: cert.replace('MI', 'MA') }, /^tls\.ca must be/],
    ['a certificate that is none', { cert: 'garbage', key }, /^tls\.cert must be a certificate/],
    ['a certificate of another type', { cert: 5, key }, /^tls\.cert must be a certificate/],
    ['a key that is none', { cert, key: 'garbage' }, /^tls\.key must be a private key/],
    ['a key of another type', { cert, key: 5 }, /^tls\.key must be a private key/],
    ['another certificate’s key', { cert, key: another.key }, /^tls\.key must be the private key of tls\.cert/],
    ['a key without its certificate', { key }, /^tls\.cert must be given together with tls\.key/],
    ['a certificate without its key', { cert }, /^tls\.key must be given together with tls\.cert/],
    ['another passphrase', { cert, key: encryptedKey, passphrase: 'hunter2' }, /^tls\.passphrase must be the one of/],
    ['no passphrase', { cert, key: encryptedKey }, /^tls\.passphrase must be the one of tls\.key/],
    [
      'a passphrase of another type',
      { cert, key: encryptedKey, passphrase: 4711 },
      /^tls\.passphrase must be a string/,
    ],
    ['an archive that is none', { pfx: 'garbage' }, /^tls\.pfx must be a PKCS#12 archive/],
    ['a version that there is not', { minVersion: 'TLSv9' }, /^tls\.minVersion must be a version/],
    ['a name of another type', { servername: 5 }, /^tls\.servername must be a string, got the number 5/],
    ['a word for a boolean', { rejectUnauthorized: 'false' }, /^tls\.rejectUnauthorized must be true or false/],
    ['a check that is none', { checkServerIdentity: 5 }, /^tls\.checkServerIdentity must be a function/],
    ['ciphers that there are not', { ciphers: 'none such' }, /^tls must be what tls\.connect\(\) of Node takes/],
  ])('are refused at once, naming the field: %s', (_what, tls, message) => {
    const refusal = refusalOf(tls);
    expect(refusal.message).toMatch(message);
    expect(refusal.message).not.toMatch(/hunter2|4711|PRIVATE KEY/);
  });
});
