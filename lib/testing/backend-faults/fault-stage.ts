import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { orTimeout } from '../../async/timer.js';
import type { Contender } from '../../contract/contender.js';
import type { GrantedLease } from '../../contract/granted-lease.js';
import type { LockBackend } from '../../contract/lock-backend.js';
import type { LockRequest } from '../../contract/lock-request.js';
import { FaultProxy } from '../faults/fault-proxy.js';
import type { FaultServer, FaultSubject } from './fault-subject.js';
import { violationsOf } from './judge.js';
import { Witness } from './witness.js';
import type { FaultClient } from './witness.js';

const LIMIT_MS = 20_000;
const LOOK_EVERY_MS = 3;

/** Sessions with which nothing is to be lost last for this many session timeouts of the subject. */
const LONG = 5;

/** The length of the sessions of a check, in session timeouts of the subject. */
export type SessionLength = 'short' | 'middle' | 'long' | 'very long';

const LENGTHS: Readonly<Record<SessionLength, number>> = {
  short: 1,
  middle: LONG / 2,
  long: LONG,
  'very long': 2 * LONG,
};

/** The environment of one check: a client behind a proxy, another one beside it, and a key that no other check uses. */
export class FaultStage {
  readonly key = `faults/${randomUUID().slice(0, 13)}`;
  readonly witness = new Witness();
  /** The client behind the proxy. */
  readonly one: FaultClient;
  /** A client that is connected to the server itself. */
  readonly other: FaultClient;
  readonly proxy: FaultProxy;
  readonly server: FaultServer;
  /** The session timeout of the clients, in milliseconds. */
  readonly sessionMs: number;
  readonly #subject: FaultSubject;
  readonly #clients: LockBackend[];
  readonly #limitMs: number;

  private constructor(subject: FaultSubject, sessionMs: number, proxy: FaultProxy, clients: readonly LockBackend[]) {
    const [one, other] = clients as readonly [LockBackend, LockBackend];
    this.one = { name: 'one', backend: one };
    this.other = { name: 'other', backend: other };
    this.proxy = proxy;
    this.server = subject.server();
    this.sessionMs = sessionMs;
    this.#subject = subject;
    this.#clients = [...clients];
    this.#limitMs = subject.limitMs ?? LIMIT_MS;
  }

  static async open(subject: FaultSubject, length: SessionLength): Promise<FaultStage> {
    const { port } = subject.server();
    const sessionTimeoutMs = LENGTHS[length] * subject.sessionTimeoutMs;
    const proxy = await (subject.openProxy ?? ((behind: number) => FaultProxy.open(behind)))(port);
    const clients: LockBackend[] = [];
    try {
      clients.push(await subject.open({ port: proxy.port, sessionTimeoutMs }));
      clients.push(await subject.open({ port, sessionTimeoutMs }));
      const stage = new FaultStage(subject, sessionTimeoutMs, proxy, clients);
      stage.witness.isOrdered = length !== 'short';
      await stage.within(Promise.all(clients.map((client) => client.connect())), 'connect()');
      return stage;
    } catch (error) {
      await Promise.all(clients.map((client) => client.close()));
      await proxy.close();
      throw error;
    }
  }

  /** Opens another client behind the proxy. */
  async another(name: string): Promise<FaultClient> {
    const backend = await this.#subject.open({ port: this.proxy.port, sessionTimeoutMs: this.sessionMs });
    this.#clients.push(backend);
    await this.within(backend.connect(), 'connect()');
    return { name, backend };
  }

  /** Ends the session of the holder of the key on the server, as `FaultSubject.expire` does. */
  async expire(client: FaultClient): Promise<void> {
    this.witness.endedOutside(client);
    await this.within(this.#subject.expire?.(this.key) ?? Promise.resolve(), 'the end of a session');
  }

  ask(
    client: FaultClient,
    changes: Partial<LockRequest> = {},
    leaving?: AbortController,
  ): Promise<GrantedLease | null> {
    const asked = this.witness.ask(
      client,
      { key: this.key, mode: 'exclusive', line: 'fifo', wait: true, ...changes },
      leaving,
    );
    asked.catch(() => {});
    return asked;
  }

  /** Resolves with a lease that is granted in time. */
  async hold(client: FaultClient, changes: Partial<LockRequest> = {}): Promise<GrantedLease> {
    return this.granted(this.ask(client, changes), 'a lease');
  }

  /** Resolves with the lease of a request that was made before. */
  async granted(asked: Promise<GrantedLease | null>, what = 'the hand-over'): Promise<GrantedLease> {
    const lease = await this.within(asked, what);
    assert.ok(lease, `${what}: acquire() resolves with null`);
    return lease;
  }

  /** Asserts that another client is refused the key, because its holder still has it. */
  async staysTaken(): Promise<void> {
    const lease = await this.within(this.ask(this.other, { wait: false }), 'a refusal');
    assert.equal(lease, null, 'another client is granted a key that is held');
  }

  /** Returns the wait queue of the key, as `other` reads it. */
  async line(): Promise<readonly Contender[]> {
    const line = await this.within(this.other.backend.lineOf(this.key), 'lineOf()');
    this.witness.seen(line.map(({ owner }) => owner.label));
    return line;
  }

  /** Resolves when the key has this many contenders, holders included. */
  standing(count: number): Promise<void> {
    return this.until(async () => (await this.line()).length === count, `${count} contenders of the key`);
  }

  /** Resolves when the condition holds. A condition that cannot be read now, does not hold. */
  async until(holds: () => boolean | Promise<boolean>, what: string): Promise<void> {
    const end = performance.now() + this.#limitMs;
    while (!(await this.#answer(holds))) {
      if (performance.now() > end) throw this.#late(what);
      await pause(LOOK_EVERY_MS);
    }
  }

  /** Resolves when the lease is in this state. Only its events are waited for: its clock is not asked. */
  reaches(lease: GrantedLease, state: GrantedLease['state']): Promise<void> {
    return this.until(() => lease.state === state, `a lease that is ${state}`);
  }

  /** Returns the promise with a time limit. */
  within<T>(promise: Promise<T>, what: string): Promise<T> {
    return orTimeout(promise, this.#limitMs, () => this.#late(what));
  }

  /** Ends all that the check has begun, and throws when the history breaks a promise. */
  async judge(): Promise<void> {
    this.proxy.heal();
    await this.within(this.witness.finish(), 'the release of all leases');
    await this.until(() => !this.witness.isWaiting, 'the end of all requests').catch(() => {});
    await this.until(async () => (await this.line()).length === 0, 'an empty wait queue').catch(() => {});
    const left = (await this.line()).map(
      ({ state, mode, owner }) => `"${this.key}": ${state} ${mode} of ${owner.label}`,
    );
    const violations = violationsOf(this.witness.history(left));
    assert.deepEqual(violations, [], violations.join('\n'));
  }

  async close(): Promise<void> {
    this.proxy.heal();
    const closed = Promise.all(this.#clients.map((client) => client.close()));
    try {
      await this.within(closed, 'close()');
    } finally {
      await this.proxy.close();
    }
  }

  async #answer(holds: () => boolean | Promise<boolean>): Promise<boolean> {
    try {
      return await holds();
    } catch {
      return false;
    }
  }

  #late(what: string): assert.AssertionError {
    return new assert.AssertionError({ message: `${what}: not within ${this.#limitMs} ms` });
  }
}
