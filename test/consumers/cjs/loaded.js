// The files of the package that the main entry loads, by either way.
const { join, relative } = require('node:path');

const dist = join(__dirname, 'node_modules', 'nestjs-distributed-lock', 'dist');
const load = process.argv[2] === 'import' ? import('nestjs-distributed-lock') : require('nestjs-distributed-lock');

Promise.resolve(load).then(() => {
  // The code is CommonJS behind both doors.
  const files = Object.keys(require.cache).map((file) => relative(dist, file));
  console.log(JSON.stringify(files.filter((file) => file.startsWith('cjs')).sort()));
});
