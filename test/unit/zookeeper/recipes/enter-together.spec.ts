import { expect, it } from 'vitest';
import { NEVER } from '../../../../lib/async/abort.js';
import { enterTogether } from '../../../../lib/zookeeper/recipes/protected-create.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { MultiOp, TransactionReply } from '../../../../lib/zookeeper/session/requests.js';
import { FakeZnodes, sessionOn } from './fake-znodes.js';

/** Znodes with sequence numbers; the reply to the first transaction is lost. */
class Numbered extends FakeZnodes {
  afterLoss: (made: readonly string[]) => void = () => {};
  #number = 0;
  #isLost = false;

  override async multi(ops: readonly MultiOp[]): Promise<TransactionReply> {
    const paths = ops.map(({ path }) => `${path}${String(this.#number++).padStart(10, '0')}`);
    paths.forEach((path) => this.put(path));
    const czxid = 1_000n + BigInt(this.#number);
    if (this.#isLost) return { results: paths.map((path) => ({ error: ErrorCode.ok, path })), zxid: czxid };
    this.#isLost = true;
    this.afterLoss(paths);
    throw new KeeperError(ErrorCode.connectionLoss);
  }
}

function start() {
  const znodes = new Numbered();
  znodes.put('/k');
  const session = sessionOn(znodes);
  const directory = { path: '/k', acl: [], parents: 'persistent', releaseTimeoutMs: 1_000 } as const;
  const enter = () => enterTogether(session, directory, { mark: 'lease-', count: 3, id: 'gate' }, { signal: NEVER });
  return { znodes, enter };
}

it('finds all of them again after a lost reply', async () => {
  const { znodes, enter } = start();
  const { contenders } = await enter();
  expect(contenders.map(({ path }) => path)).toEqual([...znodes.znodes.keys()].slice(1));
});

it.each(['before', 'while'])('recreates all contenders when one was deleted %s they were looked for', async (when) => {
  const { znodes, enter } = start();
  znodes.afterLoss = ([first = '']) => {
    if (when === 'before') return znodes.remove(first);
    znodes.before.read = (path) => path === first && znodes.remove(first);
  };
  const { contenders } = await enter();
  await new Promise(setImmediate);
  expect(contenders).toHaveLength(3);
  // The znodes of the first attempt, which no caller holds, are deleted.
  expect([...znodes.znodes.keys()].slice(1)).toEqual(contenders.map(({ path }) => path));
});
