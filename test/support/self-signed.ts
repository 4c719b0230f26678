import { createHash, generateKeyPairSync, sign } from 'node:crypto';

/** A DER value: the tag, the length of the content, the content. */
function der(tag: number, ...held: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(held);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...held: readonly Uint8Array[]) => der(0x30, ...held);
const utcTime = (text: string) => der(0x17, Buffer.from(text));
const ECDSA_WITH_SHA256 = sequence(der(0x06, Buffer.from('2a8648ce3d040302', 'hex')));
const COMMON_NAME = der(0x06, Buffer.from('550403', 'hex'));

/** A key and its self-signed certificate, in PEM format, made without an external program. */
export function selfSigned(passphrase: string) {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicDer = publicKey.export({ type: 'spki', format: 'der' });
  const serial = der(0x02, Buffer.from([1]), createHash('sha256').update(publicDer).digest().subarray(0, 8));
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('shop.test')))));
  const validity = sequence(utcTime('200101000000Z'), utcTime('491231235959Z'));
  const signed = sequence(serial, ECDSA_WITH_SHA256, name, validity, name, publicDer);
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, privateKey));
  const body = sequence(signed, ECDSA_WITH_SHA256, signature).toString('base64');
  const pkcs8 = { type: 'pkcs8', format: 'pem' } as const;
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${body.replaceAll(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export(pkcs8) as string,
    encryptedKey: privateKey.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase }) as string,
  };
}
