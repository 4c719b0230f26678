import type { ServerStatus } from './server-status.js';

/** Returns the ephemeral znodes by session. */
export function ephemeralsText({ replica }: ServerStatus): string {
  const { index } = replica.tree;
  const owners = index.owners();
  const owned = owners.map((owner) => `0x${owner.toString(16)}:\n${indented(index.ephemeralsOf(owner))}`);
  return `ephemeral nodes dump:\nSessions with Ephemerals (${owners.length}):\n${owned.join('')}`;
}

/** Returns the paths with data watches by session. */
export function watchesBySessionText({ replica }: ServerStatus): string {
  const { data } = replica.watches;
  return data
    .watchers()
    .map((connection) => `${sessionName(connection.session?.id)}\n${indented(data.pathsOf(connection))}`)
    .join('');
}

/** Returns the sessions with data watches by path. */
export function watchesByPathText({ replica }: ServerStatus): string {
  const { data } = replica.watches;
  return data
    .paths()
    .map((path) => `${path}\n${indented(data.watchersOf(path).map(({ session }) => sessionName(session?.id)))}`)
    .join('');
}

function sessionName(id = 0n): string {
  return `0x${id.toString(16)}`;
}

function indented(texts: readonly string[]): string {
  return texts.map((text) => `\t${text}\n`).join('');
}
