// Every way there is to get at the package in one process.
const { join } = require('node:path');

const folder = join(__dirname, 'node_modules', 'nestjs-distributed-lock');
const manifest = require(join(folder, 'package.json'));

/** The module for a tool that looks up the condition itself, such as Jest. */
const byCondition = (entry) => require(join(folder, manifest.exports[entry].require.default));

const NAMES = ['LockService', 'LockModule', 'LockError', 'DistributedLock'];

async function main() {
  const ways = {
    required: () => require('nestjs-distributed-lock'),
    imported: () => import('nestjs-distributed-lock'),
    byCondition: () => byCondition('.'),
  };
  const loaded = [];
  for (const way of process.argv.slice(2)) loaded.push(await ways[way]());
  const [first] = loaded;
  console.log(
    JSON.stringify({
      same: loaded.every((one) => NAMES.every((name) => one[name] !== undefined && one[name] === first[name])),
      testing:
        byCondition('./testing').LockTestingModule ===
        (await import('nestjs-distributed-lock/testing')).LockTestingModule,
    }),
  );
}

void main();
