import { refusedAt } from '../recipes/refusal.js';
import type { Contender } from '../recipes/contender.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, ErrorCode, KeeperError } from '../session/requests.js';
import type { MultiOp, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { untilFired, watching } from '../session/watch.js';
import { membersIn, READY } from './members.js';

const EMPTY = Buffer.alloc(0);
/** The version of a member's znode until it gives up. */
export const HAS_NOT_GIVEN_UP = 0;

/** One member's wait until all are in. */
export class Gathering {
  readonly #session: Session;
  readonly #directory: LockDirectory;
  readonly #own: Contender;
  readonly #count: number;

  constructor(session: Session, directory: LockDirectory, own: Contender, count: number) {
    this.#session = session;
    this.#directory = directory;
    this.#own = own;
    this.#count = count;
  }

  /** Resolves when all are in. Rejects with `signal.reason`, leaving no watch. */
  async complete(signal: AbortSignal): Promise<void> {
    for (;;) {
      const { isThere, watch } = await watching(this.#session, (untilAbort) => this.#look(untilAbort), signal);
      const wasMade = watch.fired.then((event) => event === 'created');
      try {
        if (isThere ? !(await this.#isLeftOver(signal)) : await this.#open(signal)) return;
        await untilFired([watch], signal);
        // Nothing else says that all are in: whatever else wakes is looked into.
        if (await wasMade) return;
      } finally {
        watch.remove();
      }
    }
  }

  async #look(untilAbort: (watch: Watch) => Watch): Promise<{ isThere: boolean; watch: Watch }> {
    const { isThere, watch } = await this.#session.requests.watchExistence(this.#readyPath);
    return { isThere, watch: untilAbort(watch) };
  }

  /** Makes `ready` if enough are there. */
  async #open(signal: AbortSignal): Promise<boolean> {
    const gone = new Set<string>();
    for (;;) {
      const names = await this.#list(signal);
      const others = membersIn(names).filter((name) => name !== this.#own.name && !gone.has(name));
      if (others.length + 1 < this.#count) return false;
      const counted = [this.#own.name, ...others.slice(0, this.#count - 1)];
      const missed = await this.#makeReady(counted, signal);
      if (missed === undefined) return true;
      if (missed === this.#own.name) return false;
      gone.add(missed);
    }
  }

  /** The member that is not there any more, or has given up, if there is one. */
  async #makeReady(members: readonly string[], signal: AbortSignal): Promise<string | undefined> {
    const { acl, path } = this.#directory;
    const checks = members.map((name): MultiOp => ({
      type: 'check',
      path: `${path}/${name}`,
      version: HAS_NOT_GIVEN_UP,
    }));
    const ready: MultiOp = { type: 'create', path: this.#readyPath, data: EMPTY, acl, flags: CreateMode.persistent };
    const { results } = await this.#ask(() => this.#session.requests.multi([...checks, ready]), signal);
    const failed = refusedAt(results);
    const error = results[failed]?.error ?? ErrorCode.ok;
    // Made by somebody else, or by an attempt of which the reply was lost.
    if (failed < 0 || error === ErrorCode.nodeExists) return undefined;
    if (error !== ErrorCode.noNode && error !== ErrorCode.badVersion) throw new KeeperError(error, this.#readyPath);
    return members[failed];
  }

  /** Whether `ready` is of members who all died inside: nobody else is here. Then it is removed. */
  async #isLeftOver(signal: AbortSignal): Promise<boolean> {
    const names = await this.#list(signal);
    if (this.#count === 1 || membersIn(names).some((name) => name !== this.#own.name)) return false;
    const { path } = this.#own;
    const ops: readonly MultiOp[] = [
      { type: 'check', path, version: HAS_NOT_GIVEN_UP },
      { type: 'delete', path: this.#readyPath },
    ];
    await this.#ask(() => this.#session.requests.multi(ops), signal);
    return true;
  }

  get #readyPath(): string {
    return `${this.#directory.path}/${READY}`;
  }

  #list(signal: AbortSignal): Promise<readonly string[]> {
    return this.#ask(() => this.#session.requests.children(this.#directory.path), signal);
  }

  #ask<T>(request: () => Promise<T>, signal: AbortSignal): Promise<T> {
    return this.#session.persistently(request, signal);
  }
}
