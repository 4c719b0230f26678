import type { AboutHold, Mode, Outcome } from './history.js';

/** One line of a worker's journal. Tokens are strings: JSON has no bigint. */
export type JournalEntry =
  | { what: 'asked'; id: string; at: number; keys: readonly string[]; mode: Mode; waitMs: number }
  | { what: 'answered'; id: string; at: number; outcome: Outcome; error?: string | undefined }
  | ({ what: 'held'; hold: string; at: number; key: string; mode: Mode; token: string } & AboutHold)
  /** Written regularly, in case the process is killed. */
  | { what: 'seen'; seen: readonly (readonly [hold: string, until: number])[] }
  | { what: 'ended'; hold: string; at: number; seenUntil: number; how: 'released' | 'lost' }
  | { what: 'wrote'; hold: string; answeredAt: number; accepted: boolean }
  | { what: 'final'; key: string; mode: Mode; tookMs: number; error?: string | undefined }
  | { what: 'warning'; text: string };
