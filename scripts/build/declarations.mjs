import { rolldown } from 'rolldown';
import { dts } from 'rolldown-plugin-dts';
import { at, compiled, ENTRIES, isForeign, write } from './entries.mjs';

/**
 * Bundles the declarations, once: as CommonJS, whose declarations an ES module may show as its own. With two sets of them a
 * `LockService` would be two types.
 */
export async function writeDeclarations() {
  const bundled = await rolldown({
    input: compiled(ENTRIES, '.d.ts'),
    external: isForeign,
    plugins: dts({ dtsInput: true, generator: 'oxc', tsconfig: at('tsconfig.build.json'), sourcemap: false }),
  });
  const { output } = await bundled.generate({
    format: 'es',
    entryFileNames: '[name].ts',
    chunkFileNames: '[name].ts',
  });
  for (const { fileName, code } of output) {
    write(`cjs/${fileName}`, code);
  }
  for (const name of ENTRIES) {
    write(`${name}.d.ts`, `export * from '${'../'.repeat(name.split('/').length - 1) || './'}cjs/${name}.js';\n`);
  }
}
