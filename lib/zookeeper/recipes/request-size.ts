import { LockConfigurationError } from '../../contract/errors.js';
import type { MultiOp } from '../session/requests.js';

// What servers take unless they are told otherwise (`jute.maxbuffer`), less what goes around the operations.
const MOST_BYTES = 1_048_575 - 256;
// The header of an operation, the lengths of its fields, its flags.
const OTHER_BYTES = 40;

/**
 * A request that is too large is never answered: the servers end the connection, and what is asked again over the next one
 * ends that, with all that others do on it.
 * @throws LockConfigurationError for one that the servers would not take
 */
export function checkSize(ops: readonly MultiOp[]): void {
  const bytes = ops.reduce((sum, op) => sum + sizeOf(op), 0);
  if (bytes <= MOST_BYTES) return;
  const most = `servers take ${MOST_BYTES}`;
  throw new LockConfigurationError(
    `${ops.length} znodes at once make a request of ${bytes} bytes, and ${most}; ask for fewer, by shorter keys or labels`,
  );
}

function sizeOf(op: MultiOp): number {
  const acl =
    'acl' in op ? op.acl.reduce((sum, { scheme, id }) => sum + scheme.length + Buffer.byteLength(id) + 12, 0) : 0;
  return Buffer.byteLength(op.path) + ('data' in op ? op.data.length : 0) + acl + OTHER_BYTES;
}
