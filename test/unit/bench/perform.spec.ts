import { writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { IdlePackets } from '../../../bench/conduct/idle-packets.js';
import { perform } from '../../../bench/conduct/perform.js';
import type { House } from '../../../bench/conduct/perform.js';
import { turnsOf } from '../../../bench/conduct/turns.js';
import { Experience } from '../../../bench/crew/experience.js';
import type { LoopOrder, Order } from '../../../bench/crew/orders.js';
import type { WorkerProcess } from '../../../bench/crew/worker-process.js';
import { parseOptions } from '../../../bench/options.js';

const OPTIONS = parseOptions(['--short']);
const turnOf = (shape: string) =>
  turnsOf(OPTIONS).find((turn) => turn.shape.id === shape && turn.contender.id === 'ours')!;

/** A house without processes and servers. Its workers answer at once. */
class QuietHouse {
  readonly happened: string[] = [];
  readonly orders: Order[] = [];
  readonly experience = new Experience();
  isFailing = false;

  get house(): House {
    const counts = async () => ({ received: 0, sent: 0, ephemerals: 0 });
    const server = { address: '127.0.0.1:1', counts, stop: async () => {} };
    const some = (name: string) => (_: unknown, count: number) => {
      this.happened.push(`${name} ${count}`);
      return Array.from({ length: count }, () => this.#worker());
    };
    const crews = {
      experience: this.experience,
      take: some('take'),
      start: some('start'),
      dismiss: async (program: string) => void this.happened.push(`dismiss ${program}`),
    };
    const servers = { get: async () => server, stop: async (name: string) => void this.happened.push(`stop ${name}`) };
    return { servers, crews, idle: new IdlePackets(1), options: OPTIONS } as unknown as House;
  }

  #worker(): WorkerProcess {
    const ask = async (order: Order) => {
      this.orders.push(order);
      if (order.do !== 'open' && this.isFailing) throw new Error('no answer');
      return this.#reportOf(order);
    };
    return { ask, end: async () => void this.happened.push('end') } as unknown as WorkerProcess;
  }

  #reportOf(order: Order): object {
    if (order.do === 'once') return { asked: 1, from: 2, to: 3, released: 4 };
    if (order.do !== 'loop') return {};
    writeFileSync(order.file, '');
    return { marks: [order.beginAt, order.endAt].map((at) => ({ at, cpuUs: 0 })) };
  }
}

describe('a turn', () => {
  let quiet: QuietHouse;
  const [loop, first] = [turnOf('4x1'), turnOf('first-ten')];

  beforeEach(() => void (quiet = new QuietHouse()));

  it('has the processes that are there, which learn', async () => {
    await perform(quiet.house, loop);
    expect(quiet.happened).toEqual(['take 2']);
    expect(quiet.experience.leastMs(loop.contender, 2)).toBeGreaterThan(OPTIONS.windowMs);
  });

  it('lasts as long as its window, after its warm-up', async () => {
    await perform(quiet.house, loop);
    const orders = quiet.orders.filter((order): order is LoopOrder => order.do === 'loop');
    expect(orders.map(({ beginAt, endAt }) => endAt - beginAt)).toEqual([150e6, 150e6]);
  });

  it('has new processes where earlier work would show, and ends them', async () => {
    await perform(quiet.house, first);
    expect(quiet.happened).toEqual(['start 1', 'end']);
    expect(quiet.experience.leastMs(first.contender, 1)).toBe(0);
  });

  it('ends the processes and the server when it fails', async () => {
    quiet.isFailing = true;
    await expect(perform(quiet.house, loop)).rejects.toThrow('no answer');
    expect(quiet.happened).toEqual(['take 2', 'dismiss node', 'stop zookeeper']);
    expect(quiet.experience.leastMs(loop.contender, 2)).toBe(0);
  });

  it('leaves the other processes alone when a new one fails', async () => {
    quiet.isFailing = true;
    await expect(perform(quiet.house, first)).rejects.toThrow('no answer');
    expect(quiet.happened).toEqual(['start 1', 'stop zookeeper', 'end']);
  });
});
