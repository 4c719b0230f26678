import { posix } from 'node:path';

/**
 * A chunk as a function of the peers and the chunks that it imports; other packages it requires itself. In brackets, because
 * it is called at once and need not be parsed twice.
 */
export function wrapped({ path, code, peers, chunks }) {
  const handed = [...peers, ...chunks.map((id) => relative(path, id))];
  const body = handed.reduce((text, name) => text.replaceAll(`require("${name}")`, `imports["${name}"]`), code);
  return text([`'use strict';`, 'module.exports = (function (exports, imports) {', body, 'return exports;', '});']);
}

/**
 * Opens a chunk for both doors: the first, of ES modules or of CommonJS, hands it what it imports. Node reads a CommonJS
 * file that an ES module imports twice, in search of its exports, and so that file is this small one.
 */
export function opener({ path }) {
  const code = relative(`open/${path}`, `code/${path}`);
  return text([
    `'use strict';`,
    'let opened;',
    `exports.open = (imports) => (opened ??= require('${code}')({}, imports));`,
  ]);
}

export function moduleDoor({ path, peers, chunks, exports, isProgram }) {
  const imports = [
    // A peer may be an ES module, which has no default.
    ...peers.map((name, at) => `import * as peer${at} from '${name}';`),
    ...chunks.map((id, at) => `import { opened as chunk${at} } from '${relative(path, id)}';`),
    `import { open } from '${relative(path, `cjs/open/${path}`)}';`,
  ];
  const handed = [
    ...peers.map((name, at) => `  '${name}': peer${at},`),
    ...chunks.map((id, at) => `  '${relative(path, id)}': chunk${at},`),
  ];
  if (isProgram) return text(['#!/usr/bin/env node', ...imports, '', 'open({', ...handed, '});']);
  const shown = exports?.map((name) => `export const ${name} = opened.${name};`) ?? ['export { opened };'];
  return text([...imports, '', 'const opened = open({', ...handed, '});', ...shown]);
}

export function commonDoor({ path, peers, chunks, exports }) {
  const handed = [
    ...peers.map((name) => `  '${name}': require('${name}'),`),
    ...chunks.map((id) => `  '${relative(path, id)}': require('${relative(path, id)}').opened,`),
  ];
  const shown = exports?.map((name) => `exports.${name} = opened.${name};`) ?? ['exports.opened = opened;'];
  const opening = `const { open } = require('${relative(path, `open/${path}`)}');`;
  return text([`'use strict';`, opening, '', 'const opened = open({', ...handed, '});', ...shown]);
}

function relative(from, to) {
  const path = posix.relative(posix.dirname(from), to);
  return path.startsWith('.') ? path : `./${path}`;
}

const text = (lines) => `${lines.join('\n')}\n`;
