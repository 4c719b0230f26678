import { ephemeralsText, watchesByPathText, watchesBySessionText } from './holdings-text.js';
import type { Connection } from './connection.js';
import type { ServerStatus } from './server-status.js';

/** The version in all answers that contain one. */
export const EMBEDDED_VERSION = '3.8.0-embedded';

/** `asker`: the address of the client that asks over a connection. That connection is counted as well. */
type AnswerWord = (server: ServerStatus, asker?: string) => string;

/** ZooKeeper's admin words. Answers have its format, as far as programs read it. */
export const FOUR_LETTER_WORDS: ReadonlyMap<string, AnswerWord> = new Map<string, AnswerWord>([
  ['ruok', () => 'imok'],
  ['isro', () => 'rw'],
  ['srvr', (server, asker) => versionLine() + statusText(server, asker)],
  [
    'stat',
    (server, asker) =>
      versionLine() + `Clients:\n${connectionsText(server, false, asker)}\n` + statusText(server, asker),
  ],
  ['cons', (server, asker) => `${connectionsText(server, true, asker)}\n\n`],
  ['conf', configurationText],
  [
    'envi',
    () => `Environment:\nzookeeper.version=${EMBEDDED_VERSION}\nhost.name=localhost\nnode.version=${process.version}\n`,
  ],
  ['mntr', monitorText],
  ['dump', (server, asker) => sessionsText(server) + ephemeralsText(server) + connectionsDump(server, asker)],
  ['wchs', watchesSummary],
  ['wchc', watchesBySessionText],
  ['wchp', watchesByPathText],
  ['srst', () => 'Server stats reset.\n'],
  ['crst', () => 'Connection stats reset.\n'],
  ['dirs', () => 'datadir_size: 0\nlogdir_size: 0\n'],
]);

function versionLine(): string {
  return `Zookeeper version: ${EMBEDDED_VERSION}, in memory, for development and tests only\n`;
}

function statusText(server: ServerStatus, asker?: string): string {
  const [received, sent] = packetsOf(server);
  return lines([
    'Latency min/avg/max: 0/0.0/0',
    `Received: ${received}`,
    `Sent: ${sent}`,
    `Connections: ${server.connections.size + (asker ? 1 : 0)}`,
    'Outstanding: 0',
    `Zxid: 0x${server.replica.zxid.toString(16)}`,
    `Mode: ${server.mode}`,
    `Node count: ${server.replica.tree.count}`,
  ]);
}

function connectionsText({ connections }: ServerStatus, inDetail: boolean, asker?: string): string {
  const ofAsker = asker ? ` /${asker}[0](queued=0,recved=1,sent=0)\n` : '';
  return ofAsker + [...connections].map((connection) => connectionText(connection, inDetail)).join('');
}

function connectionText({ address, received, sent, session }: Connection, inDetail: boolean): string {
  const ofSession = session && inDetail ? `,sid=0x${session.id.toString(16)},to=${session.timeoutMs}` : '';
  return ` /${address}[1](queued=0,recved=${received},sent=${sent}${ofSession})\n`;
}

function configurationText({ port, maxBufferBytes, database }: ServerStatus): string {
  const { tickTimeMs, minSessionTimeoutMs, maxSessionTimeoutMs } = database.limits;
  return lines([
    `clientPort=${port}`,
    `tickTime=${tickTimeMs}`,
    `minSessionTimeout=${minSessionTimeoutMs}`,
    `maxSessionTimeout=${maxSessionTimeoutMs}`,
    `jute.maxbuffer=${maxBufferBytes}`,
    'serverId=0',
  ]);
}

function monitorText(server: ServerStatus, asker?: string): string {
  const [received, sent] = packetsOf(server);
  const { tree, watches } = server.replica;
  const owners = tree.index.owners();
  return lines([
    `zk_version\t${EMBEDDED_VERSION}`,
    `zk_server_state\t${server.mode}`,
    `zk_packets_received\t${received}`,
    `zk_packets_sent\t${sent}`,
    `zk_num_alive_connections\t${server.connections.size + (asker ? 1 : 0)}`,
    `zk_znode_count\t${tree.count}`,
    `zk_watch_count\t${watches.count}`,
    `zk_ephemerals_count\t${owners.flatMap((owner) => tree.index.ephemeralsOf(owner)).length}`,
    `zk_global_sessions\t${server.database.sessions.size}`,
    `zk_uptime\t${Date.now() - server.startedAt}`,
  ]);
}

function sessionsText({ database }: ServerStatus): string {
  const sessions = database.sessions.all();
  const deadlines = new Set(sessions.map(({ deadlineMs }) => deadlineMs));
  const groups = [...deadlines].map((at) => {
    const ids = sessions.filter(({ deadlineMs }) => deadlineMs === at).map(({ id }) => `\t0x${id.toString(16)}\n`);
    return `${ids.length} expire at ${new Date(at).toISOString()}:\n${ids.join('')}`;
  });
  return `SessionTracker dump:\nSession Sets (${groups.length})/(${sessions.length}):\n${groups.join('')}`;
}

function connectionsDump({ connections }: ServerStatus, asker?: string): string {
  const known = [...connections].map(({ address, session }) => ({ address, id: session?.id ?? 0n }));
  const all = asker ? [{ address: asker, id: 0n }, ...known] : known;
  const entries = all.map(({ address, id }) => `\tip: /${address} sessionId: 0x${id.toString(16)}\n`);
  return `Connections dump:\nConnections Sets (1)/(${entries.length}):\n${entries.join('')}`;
}

function watchesSummary({ replica: { watches } }: ServerStatus): string {
  const { data } = watches;
  return `${data.watchers().length} connections watching ${data.paths().length} paths\nTotal watches:${data.count}\n`;
}

function packetsOf({ connections }: ServerStatus): readonly [received: number, sent: number] {
  const all = [...connections];
  return [all.reduce((sum, { received }) => sum + received, 0), all.reduce((sum, { sent }) => sum + sent, 0)];
}

function lines(texts: readonly string[]): string {
  return texts.map((text) => `${text}\n`).join('');
}
