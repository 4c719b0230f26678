// Refuses `npm publish` while package.json does not say where the repository is. A dry run publishes nothing: it is told only.
import { manifest, wrongHome } from './support/home.mjs';

const wrong = wrongHome(manifest());
const isDryRun = process.env.npm_config_dry_run === 'true';
if (wrong.length > 0) {
  const cure = 'Say where the repository is: npm run home -- https://<host>/<path>';
  (isDryRun ? console.log : console.error)(
    `${isDryRun ? 'would not be' : 'not'} published: ${wrong.join('; ')}. ${cure}`,
  );
  if (!isDryRun) process.exitCode = 1;
}
