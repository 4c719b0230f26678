import type { Names } from '../stage/names.js';
import type { RecordReader } from './record-reader.js';

/** Says what an answer's body holds, in words that are the same in every run. */
export type Tell = (body: RecordReader, names: Names) => string;

/** What a client sends, how a transcript puts it, and how to read what comes back. */
export interface Request {
  readonly type: number;
  readonly text: string;
  readonly body: Buffer;
  readonly tell: Tell;
  /** Of a kind of message that is not counted. */
  readonly xid?: number;
  /** Several events of it come in an order that means nothing. */
  readonly isUnordered?: boolean;
}

export const nothing: Tell = () => '';
