import { describe, expect, it } from 'vitest';
import { contenderData, revokedData } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { Contender } from '../../../../lib/zookeeper/recipes/contender.js';
import { watchOwnNode } from '../../../../lib/zookeeper/recipes/own-node-watch.js';
import { IdleMarker } from '../../../../lib/zookeeper/recipes/zookeeper-lease.js';
import { FakeZnodes, sessionOn } from './fake-znodes.js';

const PATH = '/k/_c_00000000-0000-0000-0000-000000000000-lock-0000000000';

const turn = () => new Promise(setImmediate);

/** A contender, whose own znode is watched unless it is to be watched later, and what it was told. */
async function watched(from: 'now' | 'later' = 'now') {
  const znodes = new FakeZnodes();
  const session = sessionOn(znodes);
  znodes.put('/k');
  znodes.put(PATH, contenderData('mine'));
  const contender = new Contender(session, { path: PATH, czxid: 2n });
  const told: string[] = [];
  contender.listen({ revoked: () => void told.push('revoked'), gone: () => void told.push('gone') });
  if (from === 'now') watchOwnNode(session, contender);
  await turn();
  const revoke = () => znodes.put(PATH, revokedData(contenderData('mine')));
  return { znodes, session, contender, told, revoke };
}

describe('the holder of a znode', () => {
  it('is revoked when its znode is deleted before the revocation is read', async () => {
    const { znodes, told, revoke } = await watched();
    revoke();
    znodes.remove(PATH);
    await turn();
    expect(told).toEqual(['revoked', 'gone']);
  });

  it('is revoked once when the revocation was read before', async () => {
    const { znodes, told, revoke } = await watched();
    revoke();
    await turn();
    znodes.remove(PATH);
    await turn();
    expect(told).toEqual(['revoked', 'gone']);
  });

  it('is not revoked when nothing was written to its znode', async () => {
    const { znodes, told } = await watched();
    znodes.remove(PATH);
    await turn();
    expect(told).toEqual(['gone']);
  });

  it('is not revoked when its znode is gone at the first look', async () => {
    const { znodes, session, contender, told, revoke } = await watched('later');
    revoke();
    znodes.remove(PATH);
    watchOwnNode(session, contender, true);
    await turn();
    expect(told).toEqual(['gone']);
  });

  it('is not revoked when the change was its own', async () => {
    const { znodes, session, contender, told } = await watched();
    new IdleMarker(session, contender, 'mine').write(true);
    znodes.before.watchData = () => {
      delete znodes.before.watchData;
      znodes.remove(PATH);
    };
    await turn();
    await turn();
    expect(told).toEqual(['gone']);
  });
});

describe('a contender whose leaving is refused', () => {
  /** Lets the contender leave by a deletion that is refused, after `happens`. */
  async function refused(contender: Contender, happens: () => void) {
    const leaving = contender.leaveBy(async () => {
      happens();
      await turn();
      throw new Error('refused');
    });
    await expect(leaving).rejects.toThrow('refused');
    await turn();
  }

  it('notices a revocation that came meanwhile', async () => {
    const { contender, told, revoke } = await watched();
    await refused(contender, revoke);
    expect(told).toEqual(['revoked']);
  });

  it('notices a deletion that came meanwhile', async () => {
    const { znodes, contender, told } = await watched();
    await refused(contender, () => znodes.remove(PATH));
    expect(told).toEqual(['gone']);
  });

  it('notices a deletion that it had asked about before', async () => {
    const { znodes, contender, told, revoke } = await watched();
    let leaving: Promise<void> | undefined;
    znodes.before.watchData = () => {
      delete znodes.before.watchData;
      znodes.remove(PATH);
      leaving = refused(contender, () => {});
    };
    revoke();
    await turn();
    await leaving;
    expect(told).toEqual(['gone']);
  });

  it('is watched from then on, if it was to be watched meanwhile', async () => {
    const { znodes, session, contender, told } = await watched('later');
    await refused(contender, () => void watchOwnNode(session, contender));
    znodes.remove(PATH);
    await turn();
    expect(told).toEqual(['gone']);
  });
});
