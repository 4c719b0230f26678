import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Workspace } from './workspace.mjs';

const VERSIONS = ['5.7', '5.9', '6', '7'];
const NEST_11 = ['@nestjs/common@11', '@nestjs/core@11', 'reflect-metadata@0.2', 'rxjs@7', '@types/node@20'];

const NODE10 = ['--module', 'commonjs', '--moduleResolution', 'node10', '--skipLibCheck'];
const MODULES = {
  nodenext: () => ['--module', 'nodenext'],
  node16: () => ['--module', 'node16'],
  // TypeScript 6 wants to be told that it is known to go.
  commonjs: (version) => (version === '6' ? [...NODE10, '--ignoreDeprecations', '6.0'] : NODE10),
};

/** TypeScript 7 has given up the resolution that goes with `commonjs`. */
const modulesOf = (version) => Object.keys(MODULES).filter((name) => version !== '7' || name !== 'commonjs');

const compiler = (version, module) => ({
  name: `typescript-${version}-${module}`,
  title: `TypeScript ${version}, \`module: ${module}\`, a CommonJS application`,
  async run(context) {
    const app = await installed(context);
    await app.bin(`typescript-${version}/bin/tsc`, ['-p', '.', ...MODULES[module](version)]);
  },
});

/** All compilers side by side, in one application. */
async function installed(context) {
  const app = await Workspace.empty(context, 'typescript');
  if (existsSync(join(app.dir, 'app.ts'))) return app;
  const compilers = VERSIONS.map((version) => `typescript-${version}@npm:typescript@${version}`);
  app.copy('types', '.').write('package.json', { name: 'types-app', private: true, type: 'commonjs' });
  return app.install(context.tarball, ...NEST_11, ...compilers);
}

export const COMPILERS = VERSIONS.flatMap((version) => modulesOf(version).map((module) => compiler(version, module)));
