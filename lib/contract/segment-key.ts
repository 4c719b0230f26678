import { MOST_SEGMENTS } from './segment.options.js';

const SEGMENT_KEY = /^(?<key>.+)\/#(?<number>\d{4})$/s;

/** One segment of a key. */
export interface KeySegment {
  readonly key: string;
  /** In four places. */
  readonly number: string;
}

/** The key of a segment, such as `stock/#0007`; in four places, so that the order of the keys is that of the numbers. */
export function segmentKey(key: string, segment: number): string {
  return `${key}/#${String(segment).padStart(4, '0')}`;
}

/** Of which key this is the key of a segment; `undefined` where it is not. */
export function segmentOfKey(text: string): KeySegment | undefined {
  const { key, number } = SEGMENT_KEY.exec(text)?.groups ?? {};
  if (key === undefined || number === undefined || key.startsWith('/')) return undefined;
  return Number(number) < MOST_SEGMENTS ? { key, number } : undefined;
}
