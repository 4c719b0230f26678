import { readFileSync } from 'node:fs';
import type { ReentrantHold } from './tenures.js';

/**
 * The fields that a worker of any language writes for each acquisition: numbers of 8 bytes in this machine's byte
 * order. Times are on CLOCK_MONOTONIC, which all processes of the machine share.
 */
export const FIELDS = ['lock', 'isShared', 'asked', 'from', 'to', 'released'] as const;

/** One acquisition. Times are in nanoseconds. */
export interface Acquisition extends ReentrantHold {
  /** The time of the request. */
  readonly asked: number;
  /** The time when the release was complete. */
  readonly released: number;
}

export function readAcquisitions(file: string): Acquisition[] {
  const bytes = readFileSync(file);
  const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 8));
  return Array.from({ length: Math.floor(numbers.length / FIELDS.length) }, (_, place) =>
    acquisitionAt(numbers, place),
  );
}

/** Reads one acquisition directly from the array, because there may be millions of them. */
function acquisitionAt(numbers: Float64Array, place: number): Acquisition {
  const at = place * FIELDS.length;
  return {
    lock: numbers[at]!,
    isShared: numbers[at + 1] === 1,
    asked: numbers[at + 2]!,
    from: numbers[at + 3]!,
    to: numbers[at + 4]!,
    released: numbers[at + 5]!,
  };
}
