import { connect } from 'node:net';

/** The version that a server answers with. `undefined` when it does not tell. */
interface ServerVersion {
  readonly server: string;
  readonly version: string | undefined;
}

const MOST_BYTES = 10_000;

/** Asks each ZooKeeper server for its version, by the word that servers answer by default. Never rejects. */
export async function serverVersions(
  servers: readonly { readonly host: string; readonly port: number }[],
  withinMs: number,
): Promise<readonly ServerVersion[]> {
  return Promise.all(
    servers.map(async ({ host, port }) => {
      const answer = await srvr(host, port, withinMs).catch(() => '');
      const [, version] = /^Zookeeper version: (\d+\.\d+\.\d+)/m.exec(answer) ?? [];
      return { server: `${host}:${port}`, version };
    }),
  );
}

function srvr(host: string, port: number, withinMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, host);
    socket.setTimeout(withinMs, () => socket.destroy(new Error('no answer')));
    socket.on('connect', () => socket.write('srvr'));
    socket.on('data', (chunk) => {
      answer += chunk.toString();
      if (answer.length > MOST_BYTES) socket.destroy();
    });
    socket.on('error', reject);
    socket.on('close', () => resolve(answer));
  });
}
