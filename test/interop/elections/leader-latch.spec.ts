import { describe, expect, inject, it } from 'vitest';
import type { Term } from '../../../lib/contract/elections.js';
import { freshBasePath } from '../../support/base-path.js';
import { openCandidate } from '../../support/candidates.js';
import { eventually } from '../../support/eventually.js';
import { openClient, untilContenders } from '../../support/znodes.js';
import { LatchProgram } from './latch-program.js';

const connectString = inject('zookeeper');
const SESSION_MS = 4_000;
const NOT_ELECTED_MS = 400;

/** An election in which a Java process and this process take part. */
async function shared() {
  const path = `${freshBasePath()}/poller`;
  const [ours, client] = await Promise.all([openCandidate({ connectString }), openClient(connectString)]);
  const curator = new LatchProgram(connectString, SESSION_MS, path);
  return { path, ours, client, curator, [Symbol.asyncDispose]: () => curator[Symbol.asyncDispose]() };
}

describe('an election shared with Curator’s LeaderLatch', () => {
  it('has one leader, and hands over to the next candidate of either side', async () => {
    await using scene = await shared();
    const { path, ours, client, curator } = scene;
    const first = await ours.campaign(path);
    await curator.campaign('java-1');
    await untilContenders(client, path, 2);
    const second = ours.campaign(path);
    await untilContenders(client, path, 3);
    await curator.campaign('java-2');
    await untilContenders(client, path, 4);
    expect(await curator.elected('java-1', NOT_ELECTED_MS)).toBe(false);

    // The successor is Curator's. It must not miss the deletion of a leader's znode after a proclaimed value.
    await first.proclaim('said while Curator waits behind it');
    await first.resign();
    expect(await curator.elected('java-1')).toBe(true);
    expect(await ours.leader(path)).toMatchObject({ id: 'java-1', value: undefined, isOwn: false });

    await curator.resign('java-1');
    const term = await second;
    expect([term.isHeld(), await curator.leads('java-2')]).toEqual([true, false]);
    expect(term.fencingToken).toBeGreaterThan(first.fencingToken);
    await term.resign();
    expect(await curator.elected('java-2')).toBe(true);
  });

  it('shows our participants to Curator by their ids, and nothing else', async () => {
    await using scene = await shared();
    const { path, ours, client, curator } = scene;
    const term = await ours.campaign(path, { label: 'node-1', value: 'http://node-1' });
    await curator.campaign('java-1');
    await untilContenders(client, path, 2);
    await term.proclaim('http://node-1/again');

    expect(await curator.leader('java-1')).toEqual({ id: 'node-1', isLeader: true });
    expect(await curator.participants('java-1')).toEqual([
      { id: 'node-1', isLeader: true },
      { id: 'java-1', isLeader: false },
    ]);
  });

  it('continues when the process of Curator’s leader is killed', async () => {
    await using scene = await shared();
    const { path, ours, client, curator } = scene;
    await curator.campaign('java-1');
    expect(await curator.elected('java-1')).toBe(true);
    const waiting = ours.campaign(path, { label: 'node-1' });
    await untilContenders(client, path, 2);
    const leaders = ours.observe(path);
    expect(await leaders.next()).toMatchObject({ value: { id: 'java-1' } });

    await curator.kill();

    expect((await waiting).isHeld()).toBe(true);
    expect(await leaders.next()).toMatchObject({ value: { id: 'node-1', isOwn: true } });
    await leaders.return?.();
  });

  it('never has two leaders in thirty terms of both sides', async () => {
    await using scene = await shared();
    const { path, ours, client, curator } = scene;
    let ourTerm: Term | undefined;
    let overlaps = 0;
    const lead = async (term: Term) => {
      ourTerm = term;
      if (await curatorLeads(curator)) overlaps++;
      await term.resign();
      ourTerm = undefined;
    };
    const terms: Promise<void>[] = [];
    for (let round = 0; round < 15; round++) {
      terms.push(ours.campaign(path).then(lead));
      await curator.campaign('java');
      expect(await curator.elected('java')).toBe(true);
      if (ourTerm?.isHeld()) overlaps++;
      await curator.resign('java');
    }
    await Promise.all(terms);
    expect(overlaps).toBe(0);
    await eventually(async () => (await untilContenders(client, path, 0)).length === 0 || undefined, 'nobody stands');
  });
});

/** Whether Curator believes that it leads. `false` when it does not campaign. */
async function curatorLeads(curator: LatchProgram): Promise<boolean> {
  return curator.leads('java').catch(() => false);
}
