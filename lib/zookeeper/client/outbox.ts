import { GroupCommit } from './group-commit.js';
import { GroupedWrite } from './grouped-write.js';
import type { PendingRequest } from './pending-request.js';
import type { CreatedNode } from './zookeeper-client.js';

/** Sends requests one behind the other in one write of the socket, or fails them when there is no connection. */
type Send = (requests: readonly PendingRequest[]) => void;

/**
 * What this process asks for in one turn of its event loop leaves at the turn's end: first the creates and deletes that
 * may share transactions, then everything else, in one write. So a list that is asked for in the same turn as a create
 * shows its znode, and one list does for all who ask for it.
 */
export class Outbox {
  readonly #send: Send;
  readonly #groupCommit = new GroupCommit((request) => this.add(request));
  #shared = new Map<string, Promise<unknown>>();
  #writes: GroupedWrite[] = [];
  #requests: PendingRequest[] = [];
  #isDue = false;

  constructor(send: Send) {
    this.#send = send;
  }

  add(request: PendingRequest): void {
    this.#requests.push(request);
    this.#atEndOfTurn();
  }

  join(write: GroupedWrite): Promise<CreatedNode> {
    this.#writes.push(write);
    this.#atEndOfTurn();
    return write.done.promise;
  }

  /** A directory is there, as somebody has learned in another way than by `join`. */
  saw(directory: string): void {
    this.#groupCommit.saw(directory);
  }

  /** What `ask` promises, to everybody who asks for the same in this turn. */
  shared<T>(what: string, ask: () => Promise<T>): Promise<T> {
    const asked = (this.#shared.get(what) as Promise<T> | undefined) ?? ask();
    this.#shared.set(what, asked);
    return asked;
  }

  /** Sends now what would leave at the end of the turn. */
  flush(): void {
    this.#isDue = false;
    const [writes, requests] = [this.#writes, this.#requests];
    this.#writes = [];
    this.#requests = [];
    // Not cleared: the table of one that lives for long keeps what it had, see `Roster`.
    if (this.#shared.size > 0) this.#shared = new Map();
    const all = writes.length > 0 ? [...this.#groupCommit.requestsFor(writes), ...requests] : requests;
    if (all.length > 0) this.#send(all);
  }

  #atEndOfTurn(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    // Behind the promises that are settled already: whoever they wake belongs to this turn.
    process.nextTick(() => this.flush());
  }
}
