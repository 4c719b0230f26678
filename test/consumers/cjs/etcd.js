// The outcome of etcd() in an application, by either way.
const load =
  process.argv[2] === 'import'
    ? import('nestjs-distributed-lock/etcd')
    : Promise.resolve(require('nestjs-distributed-lock/etcd'));

load.then(({ etcd }) => {
  const { name } = etcd({ hosts: '127.0.0.1:2379' }).create();
  console.log(JSON.stringify({ name }));
});
