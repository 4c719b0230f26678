import { rolldown } from 'rolldown';
import { commonDoor, moduleDoor, opener, wrapped } from './doors.mjs';
import { compiled, ENTRIES, isForeign, PEERS, PROGRAM, write } from './entries.mjs';

/** Bundles the code into a few chunks. Each has a door for ES modules and one for CommonJS, which open the same code. */
export async function writeCode() {
  for (const chunk of await bundle()) {
    write(`cjs/code/${chunk.path}`, wrapped(chunk));
    write(`cjs/open/${chunk.path}`, opener(chunk));
    write(chunk.path, moduleDoor(chunk));
    // The program is started, never imported.
    if (!chunk.isProgram) write(`cjs/${chunk.path}`, commonDoor(chunk));
  }
  write('cjs/package.json', '{ "type": "commonjs" }\n');
}

async function bundle() {
  const bundled = await rolldown({
    input: compiled([...ENTRIES, PROGRAM], '.js'),
    external: isForeign,
    platform: 'node',
    treeshake: { moduleSideEffects: (_id, isExternal) => isExternal },
  });
  const { output } = await bundled.generate({
    format: 'cjs',
    entryFileNames: '[name].js',
    chunkFileNames: (chunk) => `${nameOf(chunk)}.js`,
    comments: { legal: false, annotation: true, jsdoc: false },
    esModule: false,
    keepNames: true,
  });
  return output.map((chunk) => described(chunk, output));
}

/** A chunk that entries share is named after one of its files, except the one that is most of the package. */
function nameOf({ name, moduleIds }) {
  return moduleIds.some((id) => id.endsWith('/lock.module.js')) ? 'locks' : name;
}

/** The facts about a chunk that the doors need. Paths are those in dist/, where the doors for ES modules are. */
function described({ fileName, name, code, imports, exports, isEntry }, chunks) {
  const chunkAt = (id) => chunks.find((chunk) => chunk.fileName === id);
  const imported = imports.find((id) => chunkAt(id)?.isEntry);
  if (imported) throw new Error(`${fileName} imports the entry ${imported}: a door shows only what is public`);
  return {
    path: fileName,
    code: code.replace(/^#!.*\n/, '').trimEnd(),
    isProgram: name === PROGRAM,
    exports: isEntry ? exports : undefined,
    chunks: imports.filter((id) => chunkAt(id)),
    peers: imports.filter((id) => PEERS.some((peer) => id === peer || id.startsWith(`${peer}/`))),
  };
}
