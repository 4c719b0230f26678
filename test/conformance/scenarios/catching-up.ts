import { create, exists, getChildren, getData, remove, setData } from '../wire/node-requests.js';
import { Fields } from '../wire/fields.js';
import { Op, XID } from '../wire/op.js';
import { addWatch, checkWatches, setWatches, setWatches2 } from '../wire/watch-requests.js';
import type { KnownWatches } from '../wire/watch-requests.js';
import type { RawClient } from '../stage/raw-client.js';
import type { Stage } from '../stage/stage.js';
import type { Group } from './group.js';

const ALL_KINDS: KnownWatches = { data: ['/x'], exist: ['/x'], child: ['/x'] };

/** The events that a reconnected client gets for the time without a connection. */
export const catchingUp: Group = {
  name: 'catching-up',
  scenarios: {
    'nothing has happened': (stage) => away(stage, ALL_KINDS, async () => {}),
    'data has changed': (stage) => away(stage, ALL_KINDS, async (other) => void (await other.ask(setData('/x', 'y')))),
    'a child came': (stage) => away(stage, ALL_KINDS, async (other) => void (await other.ask(create('/x/y')))),
    'a child has changed': (stage) =>
      away(stage, ALL_KINDS, async (other) => void (await other.ask(setData('/x/old', 'y')))),
    'a child went': (stage) => away(stage, ALL_KINDS, async (other) => void (await other.ask(remove('/x/old')))),
    'the node went': (stage) =>
      away(stage, ALL_KINDS, async (other) => {
        await other.ask(remove('/x/old'));
        await other.ask(remove('/x'));
      }),
    'the node went and came again': (stage) =>
      away(stage, { data: ['/x'], child: ['/x'] }, async (other) => {
        await other.ask(remove('/x/old'));
        await other.ask(remove('/x'));
        await other.ask(create('/x'));
      }),
    'a node came that was waited for': (stage) =>
      away(stage, { exist: ['/new', '/never'] }, async (other) => void (await other.ask(create('/new')))),
    'many paths at once': (stage) =>
      away(
        stage,
        { data: ['/x', '/x/old', '/no'], exist: ['/x', '/new'], child: ['/', '/no'] },
        async (other) => void (await other.ask(create('/new'))),
      ),
    'the number that other clients use for it': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(setWatches(0n, 'the beginning', { data: ['/x'] }, XID.setWatches));
      await a.ask(setWatches(a.lastZxid, 'now', { data: ['/x'] }, XID.setWatches));
      await a.ask(setWatches(a.lastZxid, 'now', { data: ['/x'] }));
      await a.ask(remove('/x'));
    },
    'persistent watches are set again and fire nothing': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await b.ask(addWatch('/x', 0));
      await b.ask(addWatch('/r', 1));
      const seen = b.lastZxid;
      await b.drop();
      await a.ask(setData('/x', 'y'));
      await a.ask(create('/r'));
      await b.resume();
      await b.ask(setWatches2(seen, 'before', { persistent: ['/x'], recursive: ['/r'], data: ['/x'], exist: ['/r'] }));
      await b.ask(checkWatches('/x', 3));
      await a.ask(setData('/x', 'z'));
      await a.ask(create('/r/y'));
      await a.ask(setData('/x', 'zz'));
      await a.ask(setData('/r/y', 'zz'));
    },
    'a watch in the future': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await b.ask(setWatches(a.lastZxid + 1_000n, 'the future', ALL_KINDS));
      await a.ask(setData('/x', 'y'));
      await a.ask(create('/x/y'));
    },
    'lists that are null': async (stage) => {
      const a = await stage.open('a');
      const body = new Fields().long(0n).strings(null).strings(null).strings(null).toBuffer();
      await a.ask({ ...setWatches(0n, 'nothing, with null lists', {}), body });
      if (a.isOpen) await a.ask(exists('/'));
    },
    'lists that are missing': async (stage) => {
      const a = await stage.open('a');
      const short = setWatches(0n, 'the beginning, as the older request', {});
      await a.ask({ ...short, type: Op.setWatches2 });
      if (a.isOpen) await a.ask(exists('/'));
    },
  },
};

/** A client that sets watches, loses its connection, reconnects and registers its watches again. */
async function away(stage: Stage, known: KnownWatches, meanwhile: (other: RawClient) => Promise<void>): Promise<void> {
  const [a, b] = [await stage.open('a'), await stage.open('b')];
  await a.ask(create('/x'));
  await a.ask(create('/x/old'));
  await b.ask(getData('/x', true));
  await b.ask(getChildren('/x', true));
  const seen = b.lastZxid;
  await b.drop();
  await meanwhile(a);
  await b.resume(b, { lastZxid: seen });
  await b.ask(setWatches(seen, stage.names.zxid(seen), known));
  // Watches that have not fired are set again.
  for (const path of ['/x', '/x/old', '/new', '/never', '/no', '/']) await b.ask(checkWatches(path, 3));
  await a.ask(create('/x'));
  await a.ask(setData('/x', 'again'));
  await a.ask(create('/x/again'));
  await a.ask(create('/never'));
}
