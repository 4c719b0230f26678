import { join } from 'node:path';
import { Script } from 'node:vm';
import { builtinModules } from 'node:module';
import { rolldown } from 'rolldown';
import { COMPILED } from '../places.js';
import { globalsOf, requireOf } from './built-ins.js';
import type { Site } from './built-ins.js';
import type { Planting } from './planting.js';

/**
 * Packages that are loaded once for all simulated processes. They keep no state that depends on time or on random
 * numbers.
 */
const SHARED = ['@nestjs/', 'rxjs', 'reflect-metadata', 'tslib'];

const PARAMETERS = [
  'require',
  'module',
  'exports',
  'globalThis',
  'setTimeout',
  'clearTimeout',
  'setInterval',
  'clearInterval',
  'setImmediate',
  'clearImmediate',
  'Date',
  'Math',
  'performance',
  'process',
  'console',
];

type Start = (...parameters: unknown[]) => void;

/** A program of simulated processes, compiled once. Each process gets an instance, and no two share a module. */
export class Bundle<Exports> {
  readonly #start: Start;

  constructor(code: string, name: string) {
    const script = new Script(`(function (${PARAMETERS.join(', ')}) {${code}\n})`, { filename: `${name}.bundle.js` });
    this.#start = script.runInThisContext() as Start;
  }

  /**
   * Resolves with the code. Planted edits change no file.
   * @param entry a compiled module, without `.js`, below the simulation's compiled files
   */
  static async write(entry: string, planting?: Planting): Promise<string> {
    const build = await rolldown({
      input: join(COMPILED, `${entry}.js`),
      plugins: planting ? [planting.plugin] : [],
      external: (id) => isBuiltIn(id) || SHARED.some((name) => id.startsWith(name)),
      platform: 'node',
      logLevel: 'silent',
    });
    const { output } = await build.generate({ format: 'cjs', codeSplitting: false });
    await build.close();
    return output[0].code;
  }

  /** Runs the code in the site's process. Call it in a turn of that process. */
  instantiate(site: Site): Exports {
    const module = { exports: {} };
    const globals = globalsOf(site);
    const given: Record<string, unknown> = { ...globals, require: requireOf(site), module, exports: module.exports };
    this.#start(...PARAMETERS.map((name) => given[name]));
    return module.exports as Exports;
  }
}

function isBuiltIn(id: string): boolean {
  return id.startsWith('node:') || builtinModules.includes(id);
}
