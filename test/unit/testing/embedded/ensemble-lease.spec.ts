import { describe, expect, it, onTestFinished } from 'vitest';
import { EmbeddedEnsemble } from '../../../../lib/testing/index.js';
import type { EnsembleMember } from '../../../../lib/testing/index.js';
import { contest, handOver, SAFE } from '../../../integration/ensemble/contest.js';
import { connectClient } from '../../../integration/driver/support/observed-client.js';
import { eventually } from '../../../support/eventually.js';
import { ANYONE, EMPTY } from './servers.js';

const startRunning = async () => {
  const ensemble = await EmbeddedEnsemble.start(3, { tickTimeMs: 500, peerDelayMs: 5, electionMs: 100 });
  onTestFinished(() => ensemble.stop());
  return ensemble;
};

type Roles = [leader: EnsembleMember, one: EnsembleMember, other: EnsembleMember];

describe('on an embedded ensemble, a lease is lost before the next one is granted, when', () => {
  it.each<[string, (roles: Roles) => { holder: EnsembleMember; contender: EnsembleMember }]>([
    ['follower', ([, one, other]) => ({ holder: one, contender: other })],
    ['leader', ([leader, one]) => ({ holder: leader, contender: one })],
  ])('the holder’s %s is cut off from the others', async (_, seats) => {
    const ensemble = await startRunning();
    const { holder, contender } = seats(ensemble.servers as Roles);
    const contested = await contest({ holder, contender, observer: ensemble.servers[2]! });
    holder.cutOff();
    expect(await handOver(contested)).toEqual(SAFE);
  });
});

describe('an embedded ensemble with delays between its servers', () => {
  it('is idle when all messages have arrived', async () => {
    const ensemble = await startRunning();
    const [leader, follower] = ensemble.servers as Roles;
    const { client } = await connectClient(follower.connectString);
    const created = client.create({ path: '/a', data: EMPTY, acl: ANYONE, mode: 0 });
    await eventually(() => leader.znode('/a'), 'it is written');
    await ensemble.idle();
    expect(follower.znode('/a')).toBeDefined();
    await created;
  });
});
