import { connect } from 'node:net';
import type { Server } from './server.js';
import { startLoopback } from './loopback-process.js';

/** Redis without persistence, or (`'always'`) with a disk write for each change before the answer. */
export function startRedis(fsync: 'no' | 'always'): Promise<Server> {
  return startLoopback({
    program: 'redis-server',
    debianPackage: 'redis-server',
    settings: (dir, [port]) => ({
      port,
      dir,
      bind: '127.0.0.1',
      save: '',
      appendonly: fsync === 'always' ? 'yes' : 'no',
      appendfsync: fsync,
    }),
    serves: answersPing,
  });
}

function answersPing(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(1_000, () => socket.destroy());
    socket.once('data', (answer) => {
      resolve(String(answer).startsWith('+PONG'));
      socket.destroy();
    });
    socket.once('error', () => resolve(false));
    socket.once('close', () => resolve(false));
  });
}
