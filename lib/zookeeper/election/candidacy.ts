import { orAbort } from '../../async/abort.js';
import type { ContenderOwner } from '../../contract/contender.js';
import type { CampaignRequest, WonElection } from '../../contract/elections.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import { contenderOwner, fieldsOf, HOST } from '../recipes/contender-znode.js';
import { createNode } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, ErrorCode, isKeeperError, KeeperError } from '../session/requests.js';
import type { Session } from '../session/session.js';

const LATCH = /^_c_([0-9a-f-]{36})-latch-/;

/** The directory of the profiles of the candidates in the election at `path`. */
function profilesOf(path: string): string {
  return `${path}%candidates`;
}

/** The path of this candidate's profile, if the candidate is one of ours. */
export function profilePath(path: string, candidate: string): string | undefined {
  const [, id] = LATCH.exec(candidate) ?? [];
  return id && `${profilesOf(path)}/${id}`;
}

/**
 * A candidate's profile: its description and the value that it proclaims. It is a znode beside the wait queue, created
 * before the candidate's own and named by the same id.
 * It is never the data of the candidate's own znode, for two reasons:
 * - Curator shows that data as the participant's id.
 * - Curator's participants watch that znode for its deletion only. After a change of its data none would watch it.
 */
export class Candidacy {
  readonly #session: Session;
  readonly #directory: LockDirectory;
  readonly #request: CampaignRequest;
  #value: string | undefined;
  #since: Date | undefined;
  #path: string | undefined;
  /** Settles when it is known that no request that creates the znode is under way. */
  #making: Promise<void> = Promise.resolve();

  constructor(session: Session, directory: LockDirectory, request: CampaignRequest) {
    this.#session = session;
    this.#directory = { ...directory, path: profilesOf(directory.path) };
    this.#request = request;
    this.#value = request.value;
  }

  /**
   * Creates the profile of the candidate that is about to be created with this id. @throws KeeperError, `signal.reason`
   */
  async announce(id: string): Promise<void> {
    this.withdraw();
    this.#path = `${this.#directory.path}/${id}`;
    this.#making = this.#make(id);
    await orAbort(this.#making, this.#request.signal);
  }

  /** Called when the candidate leads. */
  elected(lease: GrantedLease): WonElection {
    this.#since = lease.acquiredAt;
    void lease.released.then(() => this.withdraw());
    // Shows others since when it leads. Nothing depends on it.
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
   * Deletes the profile, at the latest with the session. A create takes several requests when parents are missing. So
   * the delete is not sent before the last of them was answered.
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

  /** Creates the profile's znode. The signal does not abort an attempt that was begun, but prevents further ones. */
  #make(id: string): Promise<void> {
    const { signal } = this.#request;
    const node = { name: id, mode: CreateMode.ephemeral, data: this.#data };
    return this.#session.persistently(async () => {
      signal.throwIfAborted();
      await createNode(this.#session.requests, this.#directory, node).catch(unlessThere);
    });
  }
}

/** After a lost reply the previous attempt has created the znode. */
function unlessThere(error: unknown): void {
  if (!isKeeperError(error, 'nodeExists')) throw error;
}

/** The data of a candidate's profile. */
interface CandidateProfile {
  readonly label?: string | undefined;
  readonly value?: string | undefined;
  /** The time of its election, by its own clock. `undefined` while it waits. */
  readonly since?: Date | undefined;
}

/**
 * The data of a candidate's znode in the wait queue: the participant's id. Other kinds of clients look for nothing
 * else.
 */
export function participantId(label?: string): Buffer {
  return Buffer.from(label ?? `${HOST}:${process.pid}`);
}

function candidateData({ label, value, since }: CandidateProfile): Buffer {
  return Buffer.from(JSON.stringify({ host: HOST, pid: process.pid, label, value, since: since?.getTime() }));
}

/** The profile that the data holds, and its owner. */
export function candidateIn(data: Buffer): CandidateProfile & { readonly owner: ContenderOwner } {
  const { host, pid, label } = contenderOwner(data);
  const { value, since } = fieldsOf(data);
  return {
    owner: { host, pid, label },
    value: typeof value === 'string' ? value : undefined,
    since: typeof since === 'number' ? new Date(since) : undefined,
  };
}
