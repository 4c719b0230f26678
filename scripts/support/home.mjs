import { readFileSync } from 'node:fs';
import { ROOT } from './command.mjs';

/** No server can be there (RFC 2606): what stands in package.json until the repository has a public home. */
const PLACEHOLDER = 'example.invalid';

/** The faults of the places that package.json names. `repository.url` is the one to fill in. */
export function wrongHome(manifest) {
  const { repository, homepage, bugs } = manifest;
  const home = /^git\+(https:\/\/.+)\.git$/.exec(repository.url)?.[1];
  if (home === undefined) return ['repository.url must be written as git+https://<host>/<path>.git'];
  return [
    ...(new URL(home).hostname === PLACEHOLDER ? [`repository.url is the placeholder ${repository.url}`] : []),
    ...(homepage === `${home}#readme` ? [] : [`homepage must be ${home}#readme`]),
    ...(bugs.url === `${home}/issues` ? [] : [`bugs.url must be ${home}/issues`]),
  ];
}

export const manifest = () => JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
