import { describe, expect, it } from 'vitest';
import { ClusterNodes } from '../../../lib/redis/client/cluster-nodes.js';
import type { RedisNode } from '../../../lib/redis/client/redis-client.js';
import { LinkLostError } from '../../../lib/redis/client/redis-error.js';

const LIMIT_MS = 1_000;
const SLOTS = 16_384;

const at = (host: string): RedisNode => ({ host, port: 7_000 });
const notClustered = Object.assign(new Error('ERR This instance has cluster support disabled'), { name: 'ReplyError' });

/** Nodes that answer with the hosts of the primaries, each of which serves an equal part of the slots. */
class FakeNodes {
  /** The answer of each host. A host without one is away. */
  readonly answers = new Map<string, readonly string[] | Error>();
  readonly asked: RedisNode[] = [];

  of(...given: readonly RedisNode[]): ClusterNodes {
    return new ClusterNodes(given, (node) => {
      this.asked.push(node);
      const connect = async () => {
        if (!this.answers.has(node.host)) throw new Error('away');
      };
      return { connect, call: async () => this.#answerOf(node), on() {}, disconnect() {} } as never;
    });
  }

  #answerOf({ host }: RedisNode): unknown {
    const answer = this.answers.get(host) ?? [];
    if (answer instanceof Error) throw answer;
    const size = Math.ceil(SLOTS / answer.length);
    return answer.map((primary, place) => [place * size, (place + 1) * size - 1, [primary, 7_000]]);
  }

  /** Returns the hosts that were asked since the last look. */
  look(): readonly string[] {
    return this.asked.splice(0).map(({ host }) => host);
  }
}

describe('the nodes of a cluster', () => {
  it('that an answer does not name any more are not asked again', async () => {
    const fake = new FakeNodes();
    const nodes = fake.of(at('a'));
    fake.answers.set('a', ['b', 'c']);
    expect(await nodes.primaryOf(0, LIMIT_MS)).toEqual(at('b'));
    for (const host of ['a', 'b', 'd']) fake.answers.set(host, ['b', 'd']);
    await nodes.primaryOf(0, LIMIT_MS);
    fake.look();
    for (let turn = 0; turn < 6; turn++) await nodes.primaryOf(0, LIMIT_MS);
    expect(new Set(fake.look())).toEqual(new Set(['a', 'b', 'd']));
  });

  it('remain known while an answer names none for the slot, or there is no answer', async () => {
    const fake = new FakeNodes();
    const nodes = fake.of(at('a'));
    fake.answers.set('a', ['b']);
    await nodes.primaryOf(0, LIMIT_MS);
    fake.answers.set('b', []).delete('a');
    await expect(nodes.primaryOf(0, LIMIT_MS)).rejects.toBeInstanceOf(LinkLostError);
    fake.answers.set('b', ['b']);
    expect(await nodes.primaryOf(0, LIMIT_MS)).toEqual(at('b'));
  });

  it('are asked one after the other when one that was learnt is not in cluster mode any more', async () => {
    const fake = new FakeNodes();
    const nodes = fake.of(at('a'));
    fake.answers.set('a', ['b', 'c']).set('b', notClustered).set('c', ['c']);
    await nodes.primaryOf(0, LIMIT_MS);
    fake.look();
    expect(await nodes.primaryOf(0, LIMIT_MS)).toEqual(at('c'));
    expect(fake.look()).toEqual(['b', 'c']);
  });

  it('are not there when a given server is not in cluster mode, which only other settings end', async () => {
    const fake = new FakeNodes();
    fake.answers.set('a', notClustered).set('b', ['b']);
    const asked = fake.of(at('a'), at('b')).primaryOf(0, LIMIT_MS);
    await expect(asked).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
  });

  it('that are none are told as an error', async () => {
    await expect(new FakeNodes().of().primaryOf(0, LIMIT_MS)).rejects.toBeInstanceOf(LinkLostError);
  });

  it('are reached as they were given, and learnt ones as the node that named them', async () => {
    const fake = new FakeNodes();
    const [a, c] = [
      { ...at('a'), password: 'of-a', tls: true },
      { ...at('c'), password: 'of-c' },
    ] as const;
    const nodes = fake.of(a, c);
    fake.answers.set('a', ['b', 'c']);
    expect(await nodes.primaryOf(0, LIMIT_MS)).toEqual({ ...at('b'), password: 'of-a', tls: true });
    expect(await nodes.primaryOf(SLOTS - 1, LIMIT_MS)).toEqual(c);
  });
});
