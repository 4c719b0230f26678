import { orAbort } from '../../async/abort.js';
import type { ContenderOwner } from '../../contract/contender.js';
import type { CampaignRequest, WonElection } from '../../contract/elections.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { contenderOwner, fieldsOf, HOST } from '../recipes/contender-data.js';
import { createNode } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, ErrorCode, isKeeperError, KeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';

const LATCH = /^_c_([0-9a-f-]{36})-latch-/;

/** Where the candidates of the election at `path` say more of themselves than their place in line does. */
function profilesOf(path: string): string {
  return `${path}%candidates`;
}

/** Where this one does, if it is one of ours. */
export function profilePath(path: string, candidate: string): string | undefined {
  const [, id] = LATCH.exec(candidate) ?? [];
  return id && `${profilesOf(path)}/${id}`;
}

/**
 * What a candidate says of itself and proclaims. It is said by a znode beside the line, which is there before the
 * candidate's own and named by the same id. Never by its own: Curator shows the data of that one as the participant's id, and
 * its participants watch it for being deleted only, so that one whose data was changed would be watched by nobody.
 */
export class Candidacy {
  readonly #session: Session;
  readonly #directory: LockDirectory;
  readonly #request: CampaignRequest;
  #value: string | undefined;
  #since: Date | undefined;
  #path: string | undefined;
  /** Settles when it is known that no request is under way that makes the znode. */
  #making: Promise<void> = Promise.resolve();

  constructor(session: Session, directory: LockDirectory, request: CampaignRequest) {
    this.#session = session;
    this.#directory = { ...directory, path: profilesOf(directory.path) };
    this.#request = request;
    this.#value = request.value;
  }

  /** Makes the profile of the candidate that is about to enter with this id. @throws KeeperError, `signal.reason` */
  async announce(id: string): Promise<void> {
    this.withdraw();
    this.#path = `${this.#directory.path}/${id}`;
    this.#making = this.#make(id);
    await orAbort(this.#making, this.#request.signal);
  }

  /** The candidate leads. */
  elected(lease: GrantedLease): WonElection {
    this.#since = lease.acquiredAt;
    void lease.released.then(() => this.withdraw());
    // For others to see since when; nobody relies on it.
    this.#write(lease.signal).catch(() => {});
    return {
      lease,
      proclaim: (value) => {
        this.#value = value;
        return this.#write(lease.signal);
      },
    };
  }

  /**
   * Removes the profile, at the latest with the session. A create takes several requests when parents are missing, so a
   * delete is not sent before the last of them was answered.
   */
  withdraw(): void {
    const path = this.#path;
    if (path === undefined) return;
    const remove = () => this.#session.surely(() => this.#session.requests.delete(path));
    this.#making.then(remove, remove).catch(() => {});
  }

  get #data(): Buffer {
    const { label } = this.#request;
    return candidateData({ label, value: this.#value, since: this.#since });
  }

  async #write(signal: AbortSignal): Promise<void> {
    const path = this.#path ?? '';
    await this.#session.persistently(async () => {
      const { results } = await this.#session.requests.multi([{ type: 'setData', path, data: this.#data }]);
      const error = results[0]?.error ?? ErrorCode.ok;
      if (error !== ErrorCode.ok) throw new KeeperError(error, path);
    }, signal);
  }

  /** An attempt that was begun is not cut short by the signal; no further one is begun after it has aborted. */
  #make(id: string): Promise<void> {
    const { signal } = this.#request;
    const node = { name: id, mode: CreateMode.ephemeral, data: this.#data };
    return this.#session.persistently(async () => {
      signal.throwIfAborted();
      await createNode(this.#session.requests, this.#directory, node).catch(unlessThere);
    });
  }
}

/** After a lost reply it was made by the attempt before. */
function unlessThere(error: unknown): void {
  if (!isKeeperError(error, 'nodeExists')) throw error;
}

/** What a candidate says of itself beside the line. */
interface CandidateProfile {
  readonly label?: string | undefined;
  readonly value?: string | undefined;
  /** When it was elected, by its own clock; `undefined` while it waits. */
  readonly since?: Date | undefined;
}

/** What a candidate's znode in the line says: the participant's id, which is all that clients of other kinds look for. */
export function participantId(label?: string): Buffer {
  return Buffer.from(label ?? `${HOST}:${process.pid}`);
}

function candidateData({ label, value, since }: CandidateProfile): Buffer {
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
