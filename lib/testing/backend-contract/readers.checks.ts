import assert from 'node:assert/strict';
import { checksOf } from './contract-check.js';
import { unwatched } from './contract-stage.js';
import type { ContractStage } from './contract-stage.js';

async function asking(stage: ContractStage, mode: 'read' | 'write', turn: number, ahead: number, log: string[]) {
  const leaving = new AbortController();
  const asked = stage.ask(stage.client(turn), { mode, signal: leaving.signal });
  const granted = unwatched(asked.then((lease) => (log.push(`${mode} ${turn}`), lease)));
  await stage.standing(ahead + 1);
  return { granted, leaving };
}

export const READERS = checksOf('readers and writers', {
  'readers hold together, and a writer waits for all of them': async (stage) => {
    const [one, other] = [
      await stage.hold(stage.one, { mode: 'read' }),
      await stage.hold(stage.other, { mode: 'read' }),
    ];
    assert.equal(await stage.tryFor(stage.one, { mode: 'write' }), null);
    const log: string[] = [];
    const writer = await asking(stage, 'write', 1, 2, log);
    await stage.within(one.release(), 'release()');
    await stage.lull();
    assert.deepEqual(log, []);
    await stage.within(other.release(), 'release()');
    assert.ok(await stage.within(writer.granted, 'the writer’s turn'));
  },

  'readers do not overtake a writer that waits, and then go together': async (stage) => {
    const reading = await stage.hold(stage.one, { mode: 'read' });
    const log: string[] = [];
    const writer = await asking(stage, 'write', 1, 1, log);
    const later = [await asking(stage, 'read', 2, 2, log), await asking(stage, 'read', 3, 3, log)];
    assert.deepEqual(log, []);
    await stage.within(reading.release(), 'release()');
    const written = await stage.within(writer.granted, 'the writer’s turn');
    assert.deepEqual(log, ['write 1']);
    assert.ok(written);
    await stage.within(written.release(), 'release()');
    await stage.within(Promise.all(later.map(({ granted }) => granted)), 'the turn of both readers');
  },

  'an exclusive holder keeps readers and writers out': async (stage) => {
    for (const mode of ['exclusive', 'write'] as const) {
      const lease = await stage.hold(stage.one, { mode });
      for (const wanted of ['exclusive', 'read', 'write'] as const) {
        assert.equal(await stage.tryFor(stage.other, { mode: wanted }), null, `${wanted} while ${mode} is held`);
      }
      await stage.within(lease.release(), 'release()');
    }
  },

  'a writer that is released while it becomes a reader leaves nobody behind': async (stage) => {
    const lease = await stage.hold(stage.one, { mode: 'write' });
    const downgraded = lease.downgrade();
    await stage.within(lease.release(), 'release()');
    await stage.within(downgraded, 'downgrade()');
    await stage.standing(0);
    await stage.hold(stage.other, { mode: 'write' });
  },

  'readers go at once when the writer ahead of them gives up': async (stage) => {
    await stage.hold(stage.one, { mode: 'read' });
    const log: string[] = [];
    const writer = await asking(stage, 'write', 1, 1, log);
    const reader = await asking(stage, 'read', 2, 2, log);
    writer.leaving.abort(new Error('gave up'));
    assert.ok(await stage.within(reader.granted, 'the reader’s turn'));
    assert.deepEqual(log, ['read 2']);
  },
});
