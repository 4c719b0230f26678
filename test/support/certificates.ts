import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';

const run = promisify(execFile);
const PASSWORD = 'not-a-secret';

/** A key and its self-signed certificate, made with the JRE's own keytool. */
export interface Identity {
  /** The path of a PKCS#12 file with both, for servers. `pfx` is the content of that file, for Node. */
  readonly keyStore: string;
  readonly pfx: Buffer;
  /** The certificate alone. */
  readonly pem: string;
  readonly password: string;
}

/** Identities for the named hosts, and one trust store with the certificates of all. */
export async function makeIdentities<Name extends string>(
  hosts: Record<Name, string>,
): Promise<{ identities: Record<Name, Identity>; trustStore: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'certificates-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const trustStore = join(directory, 'trust.p12');
  const identities: Partial<Record<Name, Identity>> = {};
  for (const [name, host] of Object.entries(hosts) as [Name, string][]) {
    identities[name] = await makeIdentity(directory, name, host, trustStore);
  }
  return { identities: identities as Record<Name, Identity>, trustStore };
}

async function makeIdentity(directory: string, name: string, host: string, trustStore: string): Promise<Identity> {
  const keyStore = join(directory, `${name}.p12`);
  const certificate = join(directory, `${name}.pem`);
  const own = ['-alias', name, '-keystore', keyStore, '-storetype', 'PKCS12', '-storepass', PASSWORD];
  const subject = ['-dname', `CN=${host}`, '-ext', `san=dns:${host}`, '-keyalg', 'EC', '-validity', '2'];
  await run('keytool', ['-genkeypair', ...own, ...subject]);
  await run('keytool', ['-exportcert', '-rfc', ...own, '-file', certificate]);
  const trusted = ['-keystore', trustStore, '-storetype', 'PKCS12', '-storepass', PASSWORD];
  await run('keytool', ['-importcert', '-noprompt', '-alias', name, '-file', certificate, ...trusted]);
  return { keyStore, pfx: await readFile(keyStore), pem: await readFile(certificate, 'utf8'), password: PASSWORD };
}
