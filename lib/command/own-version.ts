import { existsSync, readFileSync } from 'node:fs';

/** Returns the version of this package. The build moves the code, so its package.json is looked for upwards. */
export function ownVersion(): string {
  let folder = new URL('./', import.meta.url);
  for (let above = new URL('../', folder); above.href !== folder.href; above = new URL('../', folder)) {
    const file = new URL('package.json', folder);
    const { version } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version?: string }) : {};
    // The folder with CommonJS has a package.json without a version.
    if (version !== undefined) return version;
    folder = above;
  }
  return 'unknown';
}
