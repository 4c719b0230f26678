import assert from 'node:assert/strict';
import type { Contender } from '../../contract/contender.js';
import type { Survey, SurveyQuestion } from '../../contract/survey.js';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

const NEVER = new AbortController().signal;
const NOT_WAITING = { wait: false, signal: NEVER } as const;
const LONG_MS = 4_000;

/** Asks for what is below the keys of this check. */
function survey(stage: ContractStage, changes: Partial<SurveyQuestion> = {}): Promise<Survey> {
  const bounds = { prefix: stage.key, mostKeys: 100, mostContenders: 10, withinMs: LONG_MS, signal: NEVER };
  const asked = stage.one.survey?.({ ...bounds, ...changes });
  assert.ok(asked);
  return stage.within(unwatched(asked), 'survey()');
}

/** Holds these keys, one after the other. */
async function holdAll(stage: ContractStage, names: readonly string[]): Promise<void> {
  for (const name of names) await stage.hold(stage.other, { key: `${stage.key}/${name}` });
}

const inState = (state: Contender['state'], line: readonly Contender[]) => line.filter((one) => one.state === state);

/** The checks for backends that have a survey. */
export const SURVEYS = checksOf('surveys', {
  'show each key that is in use as its own line shows it': async (stage) => {
    if (!stage.one.survey) return;
    await stage.hold(stage.other, { label: 'first' });
    void unwatched(stage.ask(stage.one, { label: 'second' }));
    await stage.standing(2);
    await holdAll(stage, ['below', 'below/that']);
    const { keys, isTruncated } = await survey(stage);
    assert.equal(isTruncated, false, 'a survey within its bounds is truncated');
    const names = [stage.key, `${stage.key}/below`, `${stage.key}/below/that`];
    assert.deepEqual(keys.map(({ key }) => key).sort(), names);
    for (const { key, kind, holders, holding, waiters, waiting } of keys) {
      const line = await stage.within(stage.one.lineOf(key), 'lineOf()');
      assert.equal(kind, 'lock');
      const [held, others] = [inState('held', line), inState('waiting', line)];
      assert.deepEqual([holders, waiters], [held, others], `"${key}" differs from its line`);
      assert.deepEqual([holding, waiting], [held.length, others.length]);
    }
  },

  'show semaphores beside locks': async (stage) => {
    if (!stage.one.survey || !stage.one.permitCounts) return;
    const permits = { count: 2, of: { permits: 3 } };
    await stage.hold(stage.other, { mode: 'permit', permits });
    void unwatched(stage.ask(stage.one, { mode: 'permit', permits }));
    await stage.standing(2);
    const { keys } = await survey(stage);
    const [found, ...others] = keys;
    assert.deepEqual(others, []);
    assert.deepEqual([found?.key, found?.kind, found?.holding, found?.waiting], [stage.key, 'semaphore', 1, 1]);
    assert.deepEqual([found?.holders[0]?.mode, found?.holders[0]?.permits], ['permit', 2]);
  },

  'show elections and queues': async (stage) => {
    const { elections, coordination } = stage.other;
    if (!stage.one.survey || !elections || !coordination) return;
    const { key } = stage;
    const request = { key, mode: 'exclusive', line: 'fifo', label: 'leader', ...NOT_WAITING } as const;
    await stage.within(elections.campaign(request), 'campaign()');
    await coordination.queues.put({ key, payloads: [Buffer.from('a'), Buffer.from('b')], ...NOT_WAITING });
    const { keys, queues } = await survey(stage);
    assert.deepEqual(
      keys.map((one) => [one.key, one.kind, one.holding, one.holders[0]?.owner.label]),
      [[key, 'election', 1, 'leader']],
    );
    assert.deepEqual(queues, [{ key, items: 2 }]);
  },

  'end at the number of keys, and say so': async (stage) => {
    if (!stage.one.survey) return;
    await holdAll(stage, ['a', 'b', 'c', 'd']);
    const few = await survey(stage, { mostKeys: 3 });
    assert.deepEqual([few.keys.length, few.isTruncated], [3, true]);
    assert.equal((await survey(stage)).keys.length, 4);
  },

  'count all contenders of a key, and list the first': async (stage) => {
    if (!stage.one.survey) return;
    await stage.hold(stage.other);
    for (const label of ['second', 'third', 'fourth']) {
      void unwatched(stage.ask(stage.one, { label }));
      await stage.standing(['second', 'third', 'fourth'].indexOf(label) + 2);
    }
    const { keys } = await survey(stage, { mostContenders: 1 });
    const [found] = keys;
    assert.deepEqual([found?.holders.length, found?.holding, found?.waiting], [1, 1, 3]);
    assert.deepEqual(
      found?.waiters.map(({ owner }) => owner.label),
      ['second'],
    );
  },

  'show only keys that begin with the prefix': async (stage) => {
    if (!stage.one.survey) return;
    await holdAll(stage, ['orders/1', 'orders/22', 'prices/1']);
    const keysOf = async (prefix: string) => (await survey(stage, { prefix })).keys.map(({ key }) => key).sort();
    const all = [`${stage.key}/orders/1`, `${stage.key}/orders/22`];
    assert.deepEqual(await keysOf(`${stage.key}/orders/`), all);
    assert.deepEqual(await keysOf(`${stage.key}/ord`), all);
    assert.deepEqual(await keysOf(`${stage.key}/orders/2`), all.slice(1));
    assert.deepEqual(await keysOf(`${stage.key}/none`), []);
  },

  'take no lock': async (stage) => {
    if (!stage.one.survey) return;
    const lease = await stage.hold(stage.other);
    const before = await stage.line();
    await survey(stage);
    assert.deepEqual(await stage.line(), before, 'the line of a key is another one after a survey');
    await stage.within(lease.release(), 'release()');
    await survey(stage);
    const next = await stage.tryFor(stage.other);
    assert.ok(next, 'a free key is not granted after a survey');
    assert.deepEqual(
      (await survey(stage)).keys.map(({ holding }) => holding),
      [1],
    );
  },

  'end when their signal aborts': async (stage) => {
    if (!stage.one.survey) return;
    const [leaving, reason] = [new AbortController(), new Error('gave up')];
    leaving.abort(reason);
    await assert.rejects(survey(stage, { signal: leaving.signal }), (error) => error === reason);
  },
});
