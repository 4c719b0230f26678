import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const FRAMEWORK = /^(@nestjs\/|rxjs$|rxjs\/|reflect-metadata$)/;
const HERE = fileURLToPath(new URL('./package.json', import.meta.url));

/**
 * Resolves the framework as a file of this folder would, for lib and tests alike: one Nest in one process. Not an
 * alias: an alias to a folder ignores `exports`, and a second copy of rxjs would come in through the side door.
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
