// What etcd() does in an application, by either way: the error where @grpc/grpc-js is missing, the backend where it is there.
const load =
  process.argv[2] === 'import'
    ? Promise.all([import('nestjs-distributed-lock/etcd'), import('nestjs-distributed-lock')])
    : Promise.all([require('nestjs-distributed-lock/etcd'), require('nestjs-distributed-lock')]);

load.then(([{ etcd }, { LockConfigurationError }]) => {
  const before = Object.keys(require.cache).filter((file) => file.includes('@grpc/grpc-js')).length;
  try {
    const { name } = etcd({ hosts: '127.0.0.1:2379' }).create();
    console.log(JSON.stringify({ before, name }));
  } catch (error) {
    const isOurs = error instanceof LockConfigurationError;
    console.log(JSON.stringify({ before, isOurs, message: error.message }));
  }
});
