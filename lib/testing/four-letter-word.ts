import { connect } from 'node:net';

const ANSWER_WITHIN_MS = 5_000;

/** Sends an admin word (`ruok`, `srvr`, `dump`, `wchp` …) to a ZooKeeper server and resolves with its answer. */
export function askFourLetterWord(port: number, word: string, withinMs = ANSWER_WITHIN_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1');
    socket.setTimeout(withinMs, () => socket.destroy(new Error(`no answer to "${word}" within ${withinMs} ms`)));
    socket.on('connect', () => socket.write(word));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('error', reject);
    socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
  });
}
