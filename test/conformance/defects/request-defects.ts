import { defect } from './defect.js';
import type { Defect } from './defect.js';

export const REQUEST_DEFECTS: readonly Defect[] = [
  defect(
    'a failed transaction says so in its header',
    'transactions',
    'requests/multi',
    'return resultsBody(refused(writes.length, results.length, error.code));',
    'throw error;',
  ),
  defect(
    'an operation that was not tried is told to be done',
    'transactions',
    'requests/multi',
    'at === wrong ? code : notTried',
    'at === wrong ? code : 0',
  ),
  defect(
    'a ping is answered with its own number',
    'oddities',
    'requests/answer',
    "name === 'ping' ? PING_XID : xid",
    'xid',
  ),
  defect(
    'reads tell an older transaction id',
    'changes',
    'requests/answer',
    'return known > knownBefore ? known : knownBefore;',
    'return known - 1n;',
  ),
  defect(
    'no data and empty data are the same',
    'creations',
    'requests/read',
    'writer.nullableBuffer(znode.data)',
    'writer.nullableBuffer(znode.data ?? Buffer.alloc(0))',
  ),
  defect(
    'an unknown request is left without an answer',
    'oddities',
    'requests/answer',
    "codeOf('unimplemented')), zxid: 0n, isLast: true",
    "codeOf('unimplemented')), zxid: 0n",
  ),
  defect('time to live is never over', 'creations', 'requests/create-mode', 'ttlMs <= LONGEST_TTL_MS', 'true'),
  defect(
    'all are told of the nodes of all',
    'changes',
    'requests/read',
    'paths.filter((path) => path.startsWith(prefix))',
    'paths',
  ),
];
