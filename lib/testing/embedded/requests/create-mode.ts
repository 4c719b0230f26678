import type { Lifetime } from '../tree/znode.js';
import { Refusal } from '../wire/refusal.js';

/** The meaning of the flags of a create (org.apache.zookeeper.CreateMode). */
interface CreateFlags {
  readonly kind: Lifetime['kind'];
  readonly isSequential: boolean;
}

const FLAGS: readonly CreateFlags[] = [
  { kind: 'persistent', isSequential: false },
  { kind: 'ephemeral', isSequential: false },
  { kind: 'persistent', isSequential: true },
  { kind: 'ephemeral', isSequential: true },
  { kind: 'container', isSequential: false },
  { kind: 'ttl', isSequential: false },
  { kind: 'ttl', isSequential: true },
];

/** @throws Refusal badArguments for unknown flags */
export function createFlags(flags: number): CreateFlags {
  const found = FLAGS[flags];
  if (!found) throw new Refusal('badArguments');
  return found;
}

const LONGEST_TTL_MS = 0xff_ffff_ffffn;

/** @throws Refusal unimplemented, or badArguments when a time to live is missing, wrong, or not permitted */
export function checkTtl(kind: Lifetime['kind'], ttlMs: bigint, extendedTypes: boolean): void {
  if (kind === 'ttl' && !extendedTypes) throw new Refusal('unimplemented');
  const isRight = kind === 'ttl' ? ttlMs > 0n && ttlMs <= LONGEST_TTL_MS : ttlMs < 0n;
  if (!isRight) throw new Refusal('badArguments');
}

const SEQUENCE_DIGITS = 10;

/** `%010d`: ten digits, or eleven characters below zero. */
export function sequenceSuffix(count: number): string {
  return count < 0
    ? `-${String(-count).padStart(SEQUENCE_DIGITS - 1, '0')}`
    : String(count).padStart(SEQUENCE_DIGITS, '0');
}
