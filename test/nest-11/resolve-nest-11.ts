import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const FRAMEWORK = /^(@nestjs\/|rxjs$|rxjs\/|reflect-metadata$)/;
const HERE = fileURLToPath(new URL('./package.json', import.meta.url));

/**
 * Resolves the framework as a file in this folder would, for lib and tests alike: one Nest in one process. An alias
 * would not work: an alias to a folder ignores `exports`, and a second copy of rxjs would be loaded.
 */
export function nest11(): Plugin {
  return {
    name: 'nest-11',
    enforce: 'pre',
    async resolveId(source) {
      return FRAMEWORK.test(source) ? await this.resolve(source, HERE, { skipSelf: true }) : null;
    },
  };
}
