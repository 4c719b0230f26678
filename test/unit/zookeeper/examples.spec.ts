import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readableByOperators } from '../../examples/zookeeper/acl.js';
import { withPassword } from '../../examples/zookeeper/digest.js';
import { overTls, withAuthority, withCertificate } from '../../examples/zookeeper/tls.js';
import { selfSigned } from '../../support/self-signed.js';

async function certificates(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'examples-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const { cert, key } = selfSigned('none');
  const files = { 'ca.pem': cert, 'shop.pem': cert, 'shop.key': key };
  await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(folder, name), text)));
  return folder;
}

it('zookeeper() accepts the options that docs/zookeeper.md shows', async () => {
  const folder = await certificates();
  const made = [
    withPassword('secret'),
    readableByOperators('secret'),
    overTls(),
    withAuthority(join(folder, 'ca.pem')),
    withCertificate(folder),
  ];
  expect(made.map(({ name }) => name)).toEqual(made.map(() => 'zookeeper'));
});
