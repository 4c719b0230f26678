import { expect, it } from 'vitest';
import {
  contenderData,
  contenderOwner,
  isRevoked,
  revokedData,
} from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { Contender } from '../../../../lib/zookeeper/recipes/contender.js';
import { IdleMarker } from '../../../../lib/zookeeper/recipes/zookeeper-lease.js';
import { FakeZnodes, sessionOn } from './fake-znodes.js';

const PATH = '/k/_c_00000000-0000-0000-0000-000000000000-lock-0000000000';

function start() {
  const znodes = new FakeZnodes();
  const session = sessionOn(znodes);
  znodes.put('/k');
  znodes.put(PATH, contenderData('mine'));
  const note = new IdleMarker(session, new Contender(session, { path: PATH, czxid: 2n }), 'mine');
  return { znodes, note, data: () => znodes.znodes.get(PATH)?.data ?? Buffer.alloc(0) };
}

const turn = () => new Promise(setImmediate);

it('a marker says that the lease is warm, and only writes the current state', async () => {
  const { znodes, note, data } = start();
  note.write(true);
  await turn();
  expect(contenderOwner(data())).toMatchObject({ label: 'mine', isKept: true });
  [false, true, false].forEach((isKept) => note.write(isKept));
  await turn();
  expect(contenderOwner(data())).toMatchObject({ label: 'mine', isKept: false });
  expect(znodes.znodes.get(PATH)?.version).toBe(2);
});

it.each([0, 1])('a marker never overwrites a revocation, however often it is set after %i writes', async (before) => {
  const { znodes, note, data } = start();
  for (let round = 0; round < before; round++) note.write(true);
  await turn();
  znodes.put(PATH, revokedData(data()));
  for (const isKept of [false, true, false, true]) {
    note.write(isKept);
    await turn();
  }
  expect(isRevoked(data())).toBe(true);
});

it('a marker never overwrites a revocation that is written at the same time', async () => {
  const { znodes, note, data } = start();
  znodes.before.multi = () => {
    delete znodes.before.multi;
    znodes.put(PATH, revokedData(data()));
  };
  [true, false].forEach((isKept) => note.write(isKept));
  await turn();
  expect(isRevoked(data())).toBe(true);
});
