/**
 * The program of a process in a small scenario: the library from its service to the wire, and callers that take turns.
 */
import { Logger } from '@nestjs/common';
import { setTimeout as passTime } from 'node:timers/promises';
import { MultiLease } from '../../../lib/composite/multi-lease.js';
import type { Lease } from '../../../lib/contract/lease.js';
import type { Lock } from '../../../lib/contract/lock.js';
import type { LockService } from '../../../lib/service/lock.service.js';
import { closeService, plainService } from '../../support/plain-service.js';
import type { ProgramHost, RunningProgram } from '../cluster/program.js';
import { observeClaims } from '../instance/observe-claims.js';
import type { ContenderOrders, HoldEntry, HoldMode, Step } from './orders.js';

Logger.overrideLogger(false);

type Host = ProgramHost<ContenderOrders, HoldEntry>;

/** Longer than the session of another process that has to end first. */
const WAIT_MS = 60_000;
const MOST_CALLS = 40;
const PAUSE_MS = 4;
const MOST_PAUSE_MS = 500;

export async function startProgram(host: Host): Promise<RunningProgram> {
  observeClaims(host);
  const { connectString, sessionTimeoutMs, localLine, callers } = host.orders;
  const locks = await plainService({
    connectString,
    sessionTimeoutMs,
    connectTimeoutMs: 2 * sessionTimeoutMs,
    localLine,
  });
  return {
    finish: async () => {
      await Promise.all(
        callers.map((steps, at) => new Caller(host, locks, `${host.process}/${at + 1}`).takeAll(steps)),
      );
    },
    close: () => closeService(locks),
  };
}

class Caller {
  readonly #host: Host;
  readonly #locks: LockService;
  readonly #name: string;
  #holds = 0;

  constructor(host: Host, locks: LockService, name: string) {
    this.#host = host;
    this.#locks = locks;
    this.#name = name;
  }

  async takeAll(steps: readonly Step[]): Promise<void> {
    for (const step of steps) {
      if (step.lock === 'pause') await passTime(2 * this.#host.orders.workMs);
      else if (step.lock === 'downgrade') await this.#downgrade(step);
      else await this.#workUnder(await this.#take(step, this.#lockOf(step)), modeOf(step));
    }
  }

  #lockOf({ lock, keys }: Step): Lock {
    const [key = ''] = keys;
    switch (lock) {
      case 'try':
        return this.#locks.mutex(key, { line: 'none' });
      case 'read':
        return this.#locks.readWriteLock(key).read;
      case 'write':
        return this.#locks.readWriteLock(key).write;
      case 'set':
        return this.#locks.multi(keys);
      case 'atomic set':
        return this.#locks.multi(keys, { atomic: true });
      case 'permit':
        return this.#locks.semaphore(key, { permits: 1 });
      default:
        return this.#locks.mutex(key);
    }
  }

  /** Asks until the lock is granted. @throws Error when it never is */
  async #take({ lock }: Step, asked: Lock): Promise<Lease> {
    for (let call = 1; call <= MOST_CALLS; call++) {
      try {
        const lease = await (lock === 'try' ? asked.tryAcquire() : asked.acquire({ waitMs: WAIT_MS }));
        if (lease) return lease;
      } catch (error) {
        this.#host.record({ what: 'refused', call: this.#name, error: String(error) });
      }
      await passTime(Math.min(MOST_PAUSE_MS, PAUSE_MS * 2 ** call));
    }
    throw new Error(`${this.#name} asked ${MOST_CALLS} times, and never got what it asked for`);
  }

  async #workUnder(lease: Lease, mode: HoldMode): Promise<void> {
    const belief = this.#believe(lease, mode);
    await this.#act(lease, belief);
    belief.end('released');
    await lease.release();
  }

  /** A writer continues as a reader. Nobody may write in between. */
  async #downgrade({ keys: [key = ''] }: Step): Promise<void> {
    const { read, write } = this.#locks.readWriteLock(key);
    for (let call = 1; call <= MOST_CALLS; call++) {
      try {
        return await write.using(
          async (writer) => {
            const writing = this.#believe(writer, 'exclusive');
            await this.#act(writer, writing);
            await read.using(async (reader) => {
              writing.end('reads on');
              const reading = this.#believe(reader, 'read');
              await writer.release();
              await this.#act(reader, reading);
              reading.end('released');
            });
          },
          { waitMs: WAIT_MS },
        );
      } catch (error) {
        this.#host.record({ what: 'refused', call: this.#name, error: String(error) });
      }
      await passTime(Math.min(MOST_PAUSE_MS, PAUSE_MS * 2 ** call));
    }
    throw new Error(`${this.#name} asked ${MOST_CALLS} times, and never got to the end`);
  }

  /** Records a hold of the lease and of each of its members, until the lease ends. */
  #believe(lease: Lease, mode: HoldMode): Belief {
    const members = lease instanceof MultiLease ? lease.leases : [lease];
    const holds = members.map(({ key, fencingToken }) => {
      const hold = `${this.#name}#${++this.#holds}`;
      this.#host.record({ what: 'held', hold, key, mode, token: String(fencingToken) });
      return hold;
    });
    let isOver = false;
    const end = (why: string) => {
      if (isOver) return;
      isOver = true;
      for (const hold of holds) this.#host.record({ what: 'ends', hold, why });
    };
    lease.signal.addEventListener('abort', () => end('lost'), { once: true });
    const act = () => {
      if (!isOver && !lease.isHeld()) end('not held');
      if (!isOver) for (const hold of holds) this.#host.record({ what: 'acts', hold });
      return !isOver;
    };
    return { act, end };
  }

  /** Acts at the beginning and at the end of the work. */
  async #act({ signal }: Lease, belief: Belief): Promise<void> {
    if (!belief.act()) return;
    await passTime(this.#host.orders.workMs, undefined, { signal }).catch(() => {});
    belief.act();
  }
}

interface Belief {
  /** `false` when the hold is over. */
  act(): boolean;
  end(why: string): void;
}

function modeOf({ lock }: Step): HoldMode {
  return lock === 'read' ? 'read' : 'exclusive';
}
