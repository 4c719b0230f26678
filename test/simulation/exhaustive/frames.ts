import { OpCode, Xid } from '../../../lib/zookeeper/wire/codes.js';

const NAMES = new Map(Object.entries(OpCode).map(([name, code]) => [code as number, name]));
const NODE_DELETED = 2;
// Offsets in a frame. After the length come xid, zxid and error; then the event type, the state, and the path's length.
const [KIND, PATH_LENGTH, PATH] = [20, 28, 32];

/** The frames that begin in these bytes, with their length prefixes. */
function framesIn(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at + 8 <= bytes.length; at += 4 + bytes.readInt32BE(at)) {
    if (bytes.readInt32BE(at) < 4) break;
    frames.push(bytes.subarray(at));
  }
  return frames;
}

/** The znodes whose deletion events are in the bytes. */
export function deletionsIn(bytes: Buffer): string[] {
  return framesIn(bytes)
    .filter((frame) => isNotification(frame) && frame.readInt32BE(KIND) === NODE_DELETED)
    .map((frame) => frame.toString('utf8', PATH, PATH + frame.readInt32BE(PATH_LENGTH)));
}

/** A short description of the bytes for people. */
export function wordsOf(bytes: Buffer, isRequest: boolean): string {
  if (bytes.length === 0) return 'handshake of TCP';
  return framesIn(bytes)
    .map((frame) => (isRequest ? requestOf(frame) : answerOf(frame)))
    .join(', ');
}

function requestOf(frame: Buffer): string {
  const [xid, code] = [frame.readInt32BE(4), frame.length >= 12 ? frame.readInt32BE(8) : 0];
  // A handshake begins with the protocol version, which is 0.
  if (xid === 0) return 'handshake';
  return `${NAMES.get(code) ?? `request ${code}`} #${xid}`;
}

function answerOf(frame: Buffer): string {
  const xid = frame.readInt32BE(4);
  if (isNotification(frame)) {
    const path = frame.toString('utf8', PATH, PATH + frame.readInt32BE(PATH_LENGTH));
    return `event ${frame.readInt32BE(KIND)} of ${path}`;
  }
  if (xid === 0) return 'answer to the handshake';
  const error = frame.length >= 20 ? frame.readInt32BE(16) : 0;
  return `answer #${xid}${error === 0 ? '' : ` error ${error}`}`;
}

function isNotification(frame: Buffer): boolean {
  return frame.length > PATH && frame.readInt32BE(4) === Xid.notification;
}
