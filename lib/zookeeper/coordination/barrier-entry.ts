import type { Contender } from '../recipes/contender.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, ErrorCode, KeeperError, refusedAt } from '../session/requests.js';
import type { MultiOp, Stat, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing, untilFired, watching } from '../session/watch.js';
import { whileCurrent } from './while-current.js';

const EMPTY = Buffer.alloc(0);
/** The version of a member's znode until the member gives up. */
const HAS_NOT_GIVEN_UP = 0;

/** One member's wait until all members are in. */
export class BarrierEntry {
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
        const ready = isThere ? await this.#stat(this.#readyPath, signal) : undefined;
        if (ready && (await this.#isIn(ready, signal))) return;
        if (await this.#open(ready, signal)) return;
        await untilFired([watch], signal);
        // Only the creation of `ready` proves that all are in. After any other event the loop looks again.
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

  /**
   * Whether an existing `ready` lets this member in. That is so in two cases: it was written after this member's znode
   * was created, or another member that it let in is still inside. Members may all die inside and leave `ready` behind.
   */
  async #isIn(ready: Stat, signal: AbortSignal): Promise<boolean> {
    if (ready.mzxid > this.#own.czxid) return true;
    const others = membersIn(await this.#list(signal)).filter((name) => name !== this.#own.name);
    const paths = others.map((name) => `${this.#directory.path}/${name}`);
    const stats = await Promise.all(paths.map((path) => this.#stat(path, signal)));
    return stats.some((stat) => stat !== undefined && stat.czxid < ready.mzxid);
  }

  /** Creates `ready` if enough members are there, or takes over the one that was left behind. */
  async #open(left: Stat | undefined, signal: AbortSignal): Promise<boolean> {
    const gone = new Set<string>();
    for (;;) {
      const names = await this.#list(signal);
      const others = membersIn(names).filter((name) => name !== this.#own.name && !gone.has(name));
      if (others.length + 1 < this.#count) return false;
      const counted = [this.#own.name, ...others.slice(0, this.#count - 1)];
      const made = await this.#makeReady(counted, left, signal);
      if (typeof made === 'boolean') return made;
      if (made.missed === this.#own.name) return false;
      gone.add(made.missed);
    }
  }

  /**
   * Returns whether `ready` is written now, or the member that prevented it. That member does not exist any more or has
   * given up.
   */
  async #makeReady(
    members: readonly string[],
    left: Stat | undefined,
    signal: AbortSignal,
  ): Promise<boolean | { readonly missed: string }> {
    const { path: directory } = this.#directory;
    const checks = members.map((name): MultiOp => ({
      type: 'check',
      path: `${directory}/${name}`,
      version: HAS_NOT_GIVEN_UP,
    }));
    const { results } = await this.#ask(() => this.#session.requests.multi([...checks, this.#readyOp(left)]), signal);
    const failed = refusedAt(results);
    const error = results[failed]?.error ?? ErrorCode.ok;
    const missed = members[failed];
    if (error === ErrorCode.noNode || error === ErrorCode.badVersion) {
      if (missed !== undefined) return { missed };
      // noNode: `ready` was deleted, so the caller looks again. badVersion: it was taken over by another member, or by
      // an own attempt whose reply was lost.
      return error === ErrorCode.badVersion;
    }
    // It was created by another member, or by an own attempt whose reply was lost.
    if (failed < 0 || error === ErrorCode.nodeExists) return true;
    throw new KeeperError(error, this.#readyPath);
  }

  #readyOp(left: Stat | undefined): MultiOp {
    const path = this.#readyPath;
    if (left) return { type: 'setData', path, data: EMPTY, version: left.version };
    return { type: 'create', path, data: EMPTY, acl: this.#directory.acl, flags: CreateMode.persistent };
  }

  #stat(path: string, signal: AbortSignal): Promise<Stat | undefined> {
    return this.#ask(() => unlessMissing(this.#session.requests.read(path), undefined), signal).then(
      (found) => found?.stat,
    );
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

const GIVEN_UP = Buffer.from('given up');

/**
 * Makes a member give up, and retries through disconnections until that is certain. Rejects when the session is over.
 * Resolves to `true` if the member was counted in before that. Then it is in after all, because the others rely on it.
 * Resolves to `false` if it was not counted in. It also does so if the servers do not answer until the session may have
 * expired: then the others may have been notified of its leaving.
 */
export function isCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
  return whileCurrent(session, wasCountedIn(session, member, readyPath), () => false);
}

async function wasCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
  const { path } = member;
  const mark = { type: 'setData', path, data: GIVEN_UP, version: HAS_NOT_GIVEN_UP } as const;
  await session.surely(async () => {
    const { results } = await session.requests.multi([mark]);
    const error = results[refusedAt(results)]?.error ?? ErrorCode.ok;
    // badVersion: an earlier attempt, whose reply was lost, was applied.
    if (error !== ErrorCode.ok && error !== ErrorCode.badVersion) throw new KeeperError(error, path);
  });
  const [, own, ready] = await session.surely(() =>
    Promise.all([
      session.requests.sync(path),
      session.requests.read(path),
      unlessMissing(session.requests.read(readyPath), undefined),
    ]),
  );
  if (!ready) return false;
  // A `ready` that is older than this member belongs to other members, until a member takes it over.
  const { czxid, mzxid } = ready.stat;
  return [czxid, mzxid].some((madeAt) => member.czxid < madeAt && madeAt < own.stat.mzxid);
}

/** The name of the znode that exists while the members are in. */
export const READY = 'ready';

// A UUID, with dashes as Curator and this package write it, or without dashes as kazoo does.
const MEMBER = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/** Returns the members among the children of a double barrier, sorted by name. All members see the same order. */
export function membersIn(names: readonly string[]): string[] {
  return names.filter((name) => MEMBER.test(name)).sort();
}
