import type { Server } from './server.js';
import { startLoopback } from './loopback-process.js';

/** One etcd server. */
export function startEtcd(): Promise<Server> {
  return startLoopback({
    program: 'etcd',
    debianPackage: 'etcd-server',
    settings: (dir, [client, peer]) => ({
      name: 'bench',
      'data-dir': `${dir}/data`,
      'listen-client-urls': `http://127.0.0.1:${client}`,
      'advertise-client-urls': `http://127.0.0.1:${client}`,
      'listen-peer-urls': `http://127.0.0.1:${peer}`,
      'initial-advertise-peer-urls': `http://127.0.0.1:${peer}`,
      'initial-cluster': `bench=http://127.0.0.1:${peer}`,
    }),
    serves: (port) =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        (answer) => answer.ok,
        () => false,
      ),
  });
}
