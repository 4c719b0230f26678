// A sub-path with a peer of its own in an application, by either way: its exports, or the error without the peer.
const [way, name] = process.argv.slice(2);
const load = (path) => (way === 'import' ? import(path) : Promise.resolve().then(() => require(path)));

const tell = async () => {
  const root = typeof (await load('nestjs-distributed-lock')).LockModule;
  try {
    const exports = Object.keys(await load(`nestjs-distributed-lock/${name}`)).filter((one) => one !== 'default');
    return { root, exports: exports.sort() };
  } catch ({ code, message }) {
    return { root, code, message: message.split('\n')[0] };
  }
};

tell().then((told) => console.log(JSON.stringify(told)));
