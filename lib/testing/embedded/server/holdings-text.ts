import type { ServerStatus } from './server-status.js';

/** Who owns which ephemeral znodes. */
export function ephemeralsText({ replica }: ServerStatus): string {
  const { index } = replica.tree;
  const owners = index.owners();
  const owned = owners.map((owner) => `0x${owner.toString(16)}:\n${indented(index.ephemeralsOf(owner))}`);
  return `ephemeral nodes dump:\nSessions with Ephemerals (${owners.length}):\n${owned.join('')}`;
}

/** Which session watches which data. */
export function watchesBySessionText({ replica }: ServerStatus): string {
  const { data } = replica.watches;
  return data
    .watchers()
    .map((connection) => `${sessionName(connection.session?.id)}\n${indented(data.pathsOf(connection))}`)
    .join('');
}

/** Whose data is watched by which sessions. */
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
