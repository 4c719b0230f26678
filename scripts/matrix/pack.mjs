import { join } from 'node:path';
import { npm, ROOT } from '../support/command.mjs';
import { output } from './output.mjs';
import { fileURLToPath } from 'node:url';

/** The package as it would be published, built now. Resolves with the path of the tarball. */
export async function pack(folder) {
  const printed = await output(fileURLToPath(ROOT), npm('pack', '--json', '--silent', '--pack-destination', folder));
  return join(folder, JSON.parse(printed)[0].filename);
}
