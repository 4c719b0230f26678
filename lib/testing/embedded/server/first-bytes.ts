import type { Socket } from 'node:net';

const WORD_BYTES = 4;

/** Calls `known` with everything received so far, as soon as that distinguishes an admin word from a client. */
export function onFirstBytes(socket: Socket, known: (bytes: Buffer) => void): void {
  let heard: Buffer = Buffer.alloc(0);
  const listen = (bytes: Buffer) => {
    heard = heard.length === 0 ? bytes : Buffer.concat([heard, bytes]);
    if (heard.length < WORD_BYTES) return;
    socket.off('data', listen);
    known(heard);
  };
  socket.on('data', listen);
}

/** Returns the admin word that a connection may start with. As a message length it would be larger than any message. */
export function wordOf(bytes: Buffer): string {
  return bytes.toString('latin1', 0, WORD_BYTES);
}
