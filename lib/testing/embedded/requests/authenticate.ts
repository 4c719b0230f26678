import { digestOf } from '../tree/identity.js';
import { Refusal } from '../wire/refusal.js';
import type { RequestReader } from '../wire/request-reader.js';
import type { Client } from './client.js';

/** {int type; ustring scheme; buffer auth}. @throws Refusal authFailed for anything but digest and ip */
export function authenticate(reader: RequestReader, client: Client): void {
  reader.int();
  const scheme = reader.nullableString();
  const credentials = reader.nullableBuffer();
  // The address is known, whatever the credentials are.
  if (scheme === 'ip') return;
  if (scheme !== 'digest' || !credentials) throw new Refusal('authFailed');
  const id = digestOf(credentials.toString());
  if (id === client.rules.superDigest) client.prove({ scheme: 'super', id: '' });
  client.prove({ scheme, id });
}
