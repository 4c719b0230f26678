// The outcome of redis() in an application, by either way: the error where ioredis is missing, the backend where it is there.
const load =
  process.argv[2] === 'import'
    ? Promise.all([import('nestjs-distributed-lock/redis'), import('nestjs-distributed-lock')])
    : Promise.all([require('nestjs-distributed-lock/redis'), require('nestjs-distributed-lock')]);

load.then(([{ redis }, { LockConfigurationError }]) => {
  const before = Object.keys(require.cache).filter((file) => file.includes('ioredis')).length;
  try {
    const { name } = redis({ url: 'redis://127.0.0.1:6379' }).create();
    console.log(JSON.stringify({ before, name }));
  } catch (error) {
    const isOurs = error instanceof LockConfigurationError;
    console.log(JSON.stringify({ before, isOurs, message: error.message }));
  }
});
