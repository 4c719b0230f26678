import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from './command.js';
import { installedPackages } from './installed-packages.js';
import { consumer, NEST_HOMES, NODE_MODULES } from './repository.js';
import type { NestMajor } from './repository.js';

const FRAMEWORK = ['@nestjs/common', '@nestjs/core', 'reflect-metadata', 'rxjs'];
const TYPES = ['@types/node'];
const PACKAGE = 'nestjs-distributed-lock';

/** An application elsewhere on the disk, with the tarball unpacked where npm would put it. */
export class InstalledApp implements AsyncDisposable {
  readonly #added: string[] = [];

  private constructor(readonly dir: string) {}

  /**
   * Creates one of the applications in test/consumers. The packages that it needs are copied from this repository:
   * nothing is downloaded, and nothing depends on npm's cache. `npm ls` still checks every range, peers included.
   */
  static async create(name: string, nest: NestMajor, tarball: string): Promise<InstalledApp> {
    const app = new InstalledApp(mkdtempSync(join(tmpdir(), `${name}-app-`)));
    try {
      await app.#install(name, nest, tarball);
      return app;
    } catch (error) {
      await app[Symbol.asyncDispose]();
      throw error;
    }
  }

  run(program: string, ...args: string[]): Promise<string> {
    return run(this.dir, program, ...args);
  }

  async #install(name: string, nest: NestMajor, tarball: string): Promise<void> {
    cpSync(consumer(name), this.dir, { recursive: true });
    copyPackages(NEST_HOMES[nest], FRAMEWORK, this.dir);
    copyPackages(NODE_MODULES, ['node-zookeeper-client', ...TYPES], this.dir);
    await this.#unpack(tarball);
    writeManifest(this.dir, [PACKAGE, ...FRAMEWORK, ...TYPES]);
    await this.run('npm', 'ls', '--all');
  }

  async #unpack(tarball: string): Promise<void> {
    const folder = join(this.dir, 'node_modules', PACKAGE);
    mkdirSync(folder);
    await this.run('tar', '-xzf', tarball, '-C', folder, '--strip-components=1');
  }

  /** Installs an optional peer, from one of the folders of this repository. `npm ls` checks its range. */
  async add(name: string, home: string = NODE_MODULES): Promise<void> {
    copyPackages(home, [name], this.dir);
    this.#added.push(name);
    writeManifest(this.dir, [PACKAGE, ...FRAMEWORK, ...TYPES, ...this.#added]);
    await this.run('npm', 'ls', '--all');
  }

  /** Sets whether its files are ES modules. */
  setType(type: 'module' | 'commonjs'): void {
    const file = join(this.dir, 'package.json');
    writeFileSync(file, JSON.stringify({ ...(JSON.parse(readFileSync(file, 'utf8')) as object), type }));
  }

  versionOf(name: string): string {
    return versionIn(join(this.dir, 'node_modules', name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.dir, { recursive: true });
  }
}

function copyPackages(home: string, names: readonly string[], dir: string): void {
  for (const folder of installedPackages(home, names)) {
    // Nested packages are copied separately, and only if they are needed.
    const filter = (path: string) => !path.slice(join(home, folder).length).startsWith('/node_modules');
    cpSync(join(home, folder), join(dir, 'node_modules', folder), { recursive: true, filter });
  }
}

/** Writes a manifest with the installed versions, as an application would request them. */
function writeManifest(dir: string, names: readonly string[]): void {
  const file = join(dir, 'package.json');
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as object;
  const versions = names.map((name) => [name, versionIn(join(dir, 'node_modules', name))]);
  writeFileSync(file, JSON.stringify({ ...manifest, dependencies: Object.fromEntries(versions) }));
}

function versionIn(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version: string }).version;
}
