import { OwnAbortController } from '../../async/abort.js';
import { pause } from '../../async/timer.js';
import type { Contender } from '../recipes/contender.js';
import { refusedAt } from '../recipes/create-node.js';
import type { LockDirectory } from '../recipes/lock-directory.js';
import { CreateMode, ErrorCode, KeeperError } from '../session/requests.js';
import type { MultiOp, Stat, Watch } from '../session/requests.js';
import type { Session } from '../session/session.js';
import { unlessMissing, untilFired, watching } from '../session/watch.js';

const EMPTY = Buffer.alloc(0);
/** The version of a member's znode until it gives up. */
const HAS_NOT_GIVEN_UP = 0;

/** One member's wait until all are in. */
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

  /** Whether a `ready` lets this one in: made while it stood there, or of others who are in. Members may all die inside. */
  async #isIn(ready: Stat, signal: AbortSignal): Promise<boolean> {
    if (ready.mzxid > this.#own.czxid) return true;
    const others = membersIn(await this.#list(signal)).filter((name) => name !== this.#own.name);
    const paths = others.map((name) => `${this.#directory.path}/${name}`);
    const stats = await Promise.all(paths.map((path) => this.#stat(path, signal)));
    return stats.some((stat) => stat !== undefined && stat.czxid < ready.mzxid);
  }

  /** Makes `ready` if enough are there, or takes over the one that is left. */
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

  /** Whether it stands now, or else the member that is not there any more, or has given up. */
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
      // Gone: to be looked for again. Of another version: taken over by somebody else, or by an attempt of which the reply
      // was lost.
      return error === ErrorCode.badVersion;
    }
    // Made by somebody else, or by such an attempt.
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

/** How often it is looked whether the session still stands, within its time-out. */
const LOOKS = 20;

/**
 * Has a member give up, for certain, through disconnections. Resolves to whether it was counted in before that: then it
 * is in all the same, because the others rely on it. Not so when the servers do not answer for so long that the others may
 * have been told that it left. Rejects when the session is over.
 */
export async function isCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
  const known = new OwnAbortController();
  try {
    return await Promise.race([wasCountedIn(session, member, readyPath), untilDoubtful(session, known.signal)]);
  } finally {
    known.abort();
  }
}

async function untilDoubtful(session: Session, signal: AbortSignal): Promise<false> {
  while (session.isCurrent) await pause(session.timeoutMs / LOOKS, signal);
  return false;
}

async function wasCountedIn(session: Session, member: Contender, readyPath: string): Promise<boolean> {
  const { path } = member;
  const mark = { type: 'setData', path, data: GIVEN_UP, version: HAS_NOT_GIVEN_UP } as const;
  await session.surely(async () => {
    const { results } = await session.requests.multi([mark]);
    const error = results[refusedAt(results)]?.error ?? ErrorCode.ok;
    // Of another version: by an attempt before, of which the reply was lost.
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
  // One that was there before this member is of others, until somebody takes it over.
  const { czxid, mzxid } = ready.stat;
  return [czxid, mzxid].some((madeAt) => member.czxid < madeAt && madeAt < own.stat.mzxid);
}

/** The znode that is there while the members are in. */
export const READY = 'ready';

// A UUID, with dashes as Curator and this package write it or without as kazoo does.
const MEMBER = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/** The members among the children of a double barrier, in the order of their names, which all see alike. */
export function membersIn(names: readonly string[]): string[] {
  return names.filter((name) => MEMBER.test(name)).sort();
}
