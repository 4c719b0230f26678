import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { at } from '../build/entries.mjs';
import { npm } from '../support/command.mjs';
import { output } from './output.mjs';

const PACKAGE = 'nestjs-distributed-lock';

/** The extra packages of the variants, which leave what was generated as it is. */
const EXTRAS = {
  11: ['@swc/cli', '@swc/core', '@swc/jest'],
  12: ['@swc/cli', '@swc/core', '@rspack/core', 'webpack-node-externals', 'tsconfig-paths-webpack-plugin'],
};

const install = (...names) => npm('install', '--no-audit', '--no-fund', '--save-dev', ...names);

/** A folder of its own for a set-up. */
export class Workspace {
  constructor(dir) {
    this.dir = dir;
  }

  static async empty({ folder }, name) {
    const dir = join(folder, name);
    mkdirSync(dir, { recursive: true });
    return new Workspace(dir);
  }

  /** The output of `nest new`, with the tarball and the packages of the variants. Installed once, and copied from then on. */
  static async nest(context, major, name) {
    const dir = join(context.folder, name);
    cpSync(await generated(context, major), dir, { recursive: true, verbatimSymlinks: true });
    return new Workspace(dir).copy('nest/orders-tests.ts', 'src/orders.spec.ts').copy('nest/main.ts', 'src/main.ts');
  }

  /** One of test/consumers, or a file of it. */
  copy(from, to) {
    mkdirSync(dirname(join(this.dir, to)), { recursive: true });
    cpSync(at(`test/consumers/${from}`), join(this.dir, to), { recursive: true });
    return this;
  }

  write(path, content) {
    mkdirSync(dirname(join(this.dir, path)), { recursive: true });
    writeFileSync(join(this.dir, path), typeof content === 'string' ? content : JSON.stringify(content));
    return this;
  }

  json(path) {
    return JSON.parse(readFileSync(join(this.dir, path), 'utf8'));
  }

  run(...argv) {
    return output(this.dir, argv);
  }

  /** The program of an installed package, on this Node or another. */
  async bin(path, args = [], node = process.execPath) {
    return output(this.dir, [node, join('node_modules', path), ...args], { CI: 'true' });
  }

  async install(...names) {
    if (!existsSync(join(this.dir, 'package.json'))) this.write('package.json', { name: 'app', private: true });
    await output(this.dir, install(...names));
    return this;
  }
}

async function generated(context, major) {
  const dir = join(context.folder, `generated-${major}`);
  if (existsSync(join(dir, 'node_modules', PACKAGE))) return dir;
  const cli = npm('exec', '--yes', `@nestjs/cli@${major}`, '--', 'new', `generated-${major}`);
  await output(context.folder, [...cli, '--skip-git', '--skip-install', '--package-manager', 'npm']);
  await output(dir, install(context.tarball, ...EXTRAS[major]));
  return dir;
}

/** A Node.js of a major version, from npm. Resolves with the path of its program. */
export async function nodeOf(context, major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath;
  const nodes = await Workspace.empty(context, `node-${major}`);
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`;
  const program = join(nodes.dir, 'node_modules', name, 'bin', 'node');
  if (!existsSync(program)) await nodes.install(`${name}@${major}`);
  return program;
}
