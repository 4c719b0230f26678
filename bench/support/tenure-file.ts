import { readFileSync } from 'node:fs';
import type { ReentrantHold } from './tenures.js';

/**
 * What a worker, in whichever language, notes of every acquisition: numbers of 8 bytes in this machine's order, on
 * CLOCK_MONOTONIC, which all processes of the machine share.
 */
export const FIELDS = ['lock', 'isShared', 'asked', 'from', 'to', 'released'] as const;

/** One acquisition. Times are in nanoseconds. */
export interface Acquisition extends ReentrantHold {
  /** When it was asked for. */
  readonly asked: number;
  /** When giving it back was done. */
  readonly released: number;
}

export function readAcquisitions(file: string): Acquisition[] {
  const bytes = readFileSync(file);
  const numbers = new Float64Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / 8));
  return Array.from({ length: Math.floor(numbers.length / FIELDS.length) }, (_, place) =>
    acquisitionAt(numbers, place),
  );
}

/** There may be millions of them. */
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
