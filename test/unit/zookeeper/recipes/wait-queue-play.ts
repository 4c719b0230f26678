import assert from 'node:assert/strict';
import { vi } from 'vitest';
import type { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import {
  compareContenderNames,
  excludes,
  CONTENDER_MARKS,
  contenderNameOf,
} from '../../../../lib/zookeeper/recipes/contender-znode.js';
import type { ContenderKind } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { DIRECTORY } from './fake-wait-queue.js';
import type { FakeClient, FakeLine } from './fake-wait-queue.js';
import { acquireOver, DELAYING, startLine } from './waiters.js';

type Mode = 'exclusive' | 'read' | 'write';

export type Step =
  | { readonly type: 'wait'; readonly client: number; readonly mode: Mode; readonly isTry: boolean }
  | { readonly type: 'foreign enters'; readonly kind: ContenderKind }
  /** A writer of Curator leaves a reader with its own number behind; every other contender just leaves. */
  | { readonly type: 'foreign leaves'; readonly which: number; readonly isDowngrade: boolean }
  | { readonly type: 'abort' | 'release'; readonly which: number }
  | { readonly type: 'servers read' | 'client reads'; readonly client: number; readonly count: number }
  | { readonly type: 'all pass' | 'disconnect' | 'reconnect'; readonly client: number }
  | { readonly type: 'a moment passes' };

/** Longer than any create delay. */
const MOMENT_MS = 5;

interface Waiter {
  readonly client: FakeClient;
  readonly abort: AbortController;
  readonly isTry: boolean;
  lease: GrantedLease | undefined;
  outcome: 'waits' | 'granted' | 'not this time' | 'aborted' | 'released';
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * A wait queue of two sessions and foreign contenders. A test performs steps, and the invariants are checked after
 * each. Requires fake timers.
 */
export class LinePlay {
  readonly #line: FakeLine;
  readonly #clients: readonly FakeClient[];
  readonly #waiters: Waiter[] = [];
  readonly #foreign: string[] = [];
  #foreigners = 0;

  constructor() {
    const { line, clients } = startLine(2);
    this.#line = line;
    this.#clients = clients;
  }

  async take(step: Step): Promise<void> {
    switch (step.type) {
      case 'wait':
        this.#wait(this.#clients[step.client] ?? missing('client'), step.mode, step.isTry);
        break;
      case 'foreign enters':
        this.#foreign.push(this.#line.enter(this.#foreignName(step.kind)).path);
        break;
      case 'foreign leaves':
        this.#foreignLeaves(step.which, step.isDowngrade);
        break;
      case 'abort':
        pick(this.#in('waits'), step.which)?.abort.abort();
        break;
      case 'release':
        this.#release(pick(this.#in('granted'), step.which));
        break;
      case 'a moment passes':
        await vi.advanceTimersByTimeAsync(MOMENT_MS);
        break;
      default:
        await this.#pass(step.type, this.#clients[step.client] ?? missing('client'), 'count' in step ? step.count : 1);
    }
    await turn();
    this.#checkWatches();
  }

  /** Aborts all waiters and releases all leases, while the foreign contenders stay in the queue. */
  async giveUp(): Promise<void> {
    for (let round = 0; round < 10; round++) {
      this.#clients.forEach((each) => each.reconnect());
      this.#in('waits').forEach(({ abort }) => abort.abort());
      this.#in('granted').forEach((waiter) => this.#release(waiter));
      await vi.advanceTimersByTimeAsync(MOMENT_MS);
      for (const each of this.#clients) await each.passAll();
    }
    assert.deepEqual(this.#line.names.length, this.#foreign.length, 'somebody stays in line');
    this.#checkWatches();
  }

  /**
   * Removes the foreign contenders, reconnects all sessions and releases every granted lease. Every waiter must get its
   * turn.
   */
  async end(): Promise<void> {
    for (const path of this.#foreign.splice(0)) this.#line.remove(path);
    for (let round = 0; round < 200; round++) {
      this.#clients.forEach((each) => each.reconnect());
      this.#in('granted').forEach((waiter) => this.#release(waiter));
      await vi.advanceTimersByTimeAsync(MOMENT_MS);
      for (const each of this.#clients) await each.passAll();
      if (this.#in('granted').length + this.#in('waits').length === 0) break;
    }
    for (const each of this.#clients) await each.passAll();
    assert.deepEqual(this.#in('waits'), [], 'somebody is forgotten');
    assert.deepEqual(this.#line.names, [], 'somebody stays in line');
    const watched = this.#clients.flatMap((each) => [...each.watched.data, ...each.watched.children]);
    assert.deepEqual(watched, [], 'a watch stays');
  }

  #in(outcome: Waiter['outcome']): Waiter[] {
    return this.#waiters.filter((waiter) => waiter.outcome === outcome);
  }

  #wait(through: FakeClient, mode: Mode, isTry: boolean): void {
    const abort = new AbortController();
    const waiter: Waiter = { client: through, abort, isTry, lease: undefined, outcome: 'waits' };
    const label = String(this.#waiters.length);
    this.#waiters.push(waiter);
    acquireOver(through, mode, abort.signal, !isTry, label, DELAYING).then(
      (lease) => this.#answered(waiter, lease),
      (error: unknown) => {
        assert.equal(error, abort.signal.reason, 'rejected for another reason than its own');
        waiter.outcome = 'aborted';
      },
    );
  }

  #answered(waiter: Waiter, lease: GrantedLease | null): void {
    if (!lease) assert.ok(waiter.isTry, 'a waiter is told that another is ahead');
    waiter.outcome = lease ? 'granted' : 'not this time';
    waiter.lease = lease ?? undefined;
    if (!lease) return;
    this.#checkTurn(lease, waiter.client);
    const holding = this.#in('granted');
    const isShared = holding.every((each) => each.lease?.mode === 'read');
    assert.ok(holding.length === 1 || isShared, `${holding.length} hold at once`);
  }

  /**
   * Checks the turn against the queue on the servers, not against the session's view of it. Contenders of the same
   * session that have ended may still be in the queue.
   */
  #checkTurn({ fencingToken }: GrantedLease, client: FakeClient): void {
    const czxid = fencingToken >> 16n;
    const [path] = [...this.#line.znodes].find(([, created]) => created === czxid) ?? [];
    const me = contenderNameOf(path?.slice(DIRECTORY.length + 1) ?? '') ?? missing('it is not in line');
    const standings = this.#line.names.map((name) => contenderNameOf(name) ?? missing(name));
    const ahead = standings.filter(
      (other) => other.name !== me.name && compareContenderNames(other, me) <= 0 && excludes(other, me),
    );
    const inTheWay = ahead.filter(({ name }) => !this.#isLeaving(name, client));
    assert.deepEqual(inTheWay, [], `${me.name} is granted before its turn`);
  }

  #isLeaving(name: string, client: FakeClient): boolean {
    const waiter = this.#waiters[Number(this.#line.labels.get(`${DIRECTORY}/${name}`) ?? NaN)];
    if (waiter?.client !== client || waiter.outcome === 'granted') return false;
    return waiter.outcome !== 'waits' || waiter.abort.signal.aborted || waiter.isTry;
  }

  #checkWatches(): void {
    for (const each of this.#clients) {
      // An event may still be in flight for a watch that the servers have already removed.
      const { toServers, toClient } = each.underWay;
      if (toServers + toClient > 0) continue;
      const waiting = this.#waiters.filter((waiter) => waiter.client === each && waiter.outcome === 'waits').length;
      const holding = this.#waiters.filter((waiter) => waiter.client === each && waiter.outcome === 'granted').length;
      // Two watches on predecessors, and one on the own znode, which stays.
      assert.ok(each.watched.data.size <= 3 * waiting + holding, 'more than three watches a waiter');
    }
  }

  #release(waiter: Waiter | undefined): void {
    if (!waiter?.lease) return;
    waiter.outcome = 'released';
    void waiter.lease.release();
  }

  #foreignName(kind: ContenderKind): string {
    return `_c_${String(this.#foreigners++).padStart(8, '0')}-0000-0000-0000-000000000000-${CONTENDER_MARKS[kind]}`;
  }

  #foreignLeaves(number: number, isDowngrade: boolean): void {
    const path = pick(this.#foreign, number);
    if (path === undefined) return;
    this.#foreign.splice(this.#foreign.indexOf(path), 1);
    const { kind } = contenderNameOf(path) ?? missing(path);
    const holds = !this.#line.names.some((name) => this.#isBefore(name, path));
    if (kind === 'write' && isDowngrade && holds) {
      this.#foreign.push(this.#line.make(`${this.#foreignName('read')}${path.slice(-10)}`).path);
    }
    this.#line.remove(path);
  }

  #isBefore(name: string, path: string): boolean {
    const [other, me] = [contenderNameOf(name), contenderNameOf(path.slice(DIRECTORY.length + 1))];
    return other !== undefined && me !== undefined && other.name !== me.name && compareContenderNames(other, me) < 0;
  }

  async #pass(type: Step['type'], through: FakeClient, times: number): Promise<void> {
    if (type === 'disconnect') return through.disconnect();
    if (type === 'reconnect') return through.reconnect();
    if (type === 'all pass') return through.passAll();
    for (let passed = 0; passed < times; passed++) {
      await turn();
      if (type === 'servers read') through.passUp();
      else through.passDown();
    }
  }
}

function pick<T>(all: readonly T[], number: number): T | undefined {
  return all[number % Math.max(1, all.length)];
}

function missing(what: string): never {
  throw new Error(`there is no ${what}`);
}
