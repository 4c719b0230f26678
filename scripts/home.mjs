// Fills in where the repository lives, in all places of package.json: `npm run home -- https://<host>/<path>`
import { writeFileSync } from 'node:fs';
import { ROOT } from './support/command.mjs';
import { manifest, wrongHome } from './support/home.mjs';

const home = process.argv[2]?.replace(/(\.git|\/)$/, '');
const filled = {
  ...manifest(),
  repository: { type: 'git', url: `git+${home}.git` },
  homepage: `${home}#readme`,
  bugs: { url: `${home}/issues` },
};
const wrong = wrongHome(filled);
if (wrong.length === 0) writeFileSync(new URL('package.json', ROOT), `${JSON.stringify(filled, null, 2)}\n`);
else {
  console.error(`${wrong.join('\n')}\nUsage: npm run home -- https://<host>/<path>`);
  process.exitCode = 1;
}
