import { contenderOwner, fieldsOf, HOST } from './contender-data.js';
import type { ContenderOwner } from '../../contract/contender.js';

/** What a candidate says of itself beside the line. */
export interface CandidateProfile {
  readonly label?: string | undefined;
  readonly value?: string | undefined;
  /** When it was elected, by its own clock; `undefined` while it waits. */
  readonly since?: Date | undefined;
}

/** What a candidate's znode in the line says: the participant's id, which is all that clients of other kinds look for. */
export function participantId(label?: string): Buffer {
  return Buffer.from(label ?? `${HOST}:${process.pid}`);
}

export function candidateData({ label, value, since }: CandidateProfile): Buffer {
  return Buffer.from(JSON.stringify({ host: HOST, pid: process.pid, label, value, since: since?.getTime() }));
}

/** Who wrote the data, and what about itself. */
export function candidateIn(data: Buffer): CandidateProfile & { readonly owner: ContenderOwner } {
  const { host, pid, label } = contenderOwner(data);
  const { value, since } = fieldsOf(data);
  return {
    owner: { host, pid, label },
    value: typeof value === 'string' ? value : undefined,
    since: typeof since === 'number' ? new Date(since) : undefined,
  };
}
