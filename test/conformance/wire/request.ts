import type { Names } from '../stage/names.js';
import type { RecordReader } from './record-reader.js';

/** Describes the body of a reply, in words that are the same in every run. */
export type Tell = (body: RecordReader, names: Names) => string;

/** A request, its text in a transcript, and the reader of its reply. */
export interface Request {
  readonly type: number;
  readonly text: string;
  readonly body: Buffer;
  readonly tell: Tell;
  /** The id of a kind of message that is not counted. */
  readonly xid?: number;
  /** Whether its events come in an order without meaning. */
  readonly isUnordered?: boolean;
}

export const nothing: Tell = () => '';
