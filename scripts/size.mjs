// The costs of the package: files and bytes of the tarball, and the time to import the main entry beside that of NestJS, by ES
// modules and by CommonJS. `npm run size`, see docs/performance.md. Builds first, as `npm pack` does.
import { execFileSync } from 'node:child_process';
import { at } from './build/entries.mjs';
import { output } from './matrix/output.mjs';
import { npm } from './support/command.mjs';

const RUNS = 15;
const NEST = ['@nestjs/common', '@nestjs/core'];
const LOAD = {
  'ES modules': { type: 'module', load: (name) => `await import('${name}');` },
  CommonJS: { type: 'commonjs', load: (name) => `require('${name}');` },
};

const [packed] = JSON.parse(await output(at('.'), npm('pack', '--dry-run', '--json', '--silent')));
console.log(
  `tarball: ${packed.entryCount} files, ${packed.unpackedSize} bytes unpacked, ${packed.size} bytes packed\n`,
);

const times = Object.keys(LOAD).map((way) => ({ way, nest: [], ours: [] }));
for (let run = 0; run < RUNS; run++) times.forEach(measure);
console.log(`| by | NestJS (${NEST.join(' and ')}) | the main entry after it | share |\n| --- | --- | --- | --- |`);
for (const { way, nest, ours } of times) {
  const [theirs, own] = [median(nest), median(ours)];
  console.log(`| ${way} | ${theirs.toFixed(0)} ms | ${own.toFixed(0)} ms | ${Math.round((100 * own) / theirs)} % |`);
}
console.log(`\nmedians of ${RUNS} fresh processes each, Node ${process.versions.node}`);

/** One fresh process: every application that imports the package has NestJS already. */
function measure({ way, nest, ours }) {
  const { type, load } = LOAD[way];
  const program = [
    'const started = performance.now();',
    ...NEST.map(load),
    'const between = performance.now();',
    load('nestjs-distributed-lock'),
    'console.log(JSON.stringify([between - started, performance.now() - between]));',
  ];
  const args = [`--input-type=${type}`, '--disable-warning=ExperimentalWarning', '--eval', program.join('\n')];
  const [theirs, own] = JSON.parse(execFileSync(process.execPath, args, { cwd: at('.') }).toString());
  nest.push(theirs);
  ours.push(own);
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
