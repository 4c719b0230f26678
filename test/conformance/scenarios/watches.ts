import { multi } from '../wire/multi-requests.js';
import {
  create,
  exists,
  getChildren,
  getChildren2,
  getData,
  remove,
  setAcl,
  setData,
  sync,
} from '../wire/node-requests.js';
import { OPEN } from '../wire/fields.js';
import { addWatch, checkWatches, removeWatches } from '../wire/watch-requests.js';
import type { RawClient } from '../stage/raw-client.js';
import type { Stage } from '../stage/stage.js';
import type { Request } from '../wire/request.js';
import type { Group } from './group.js';

const WATCHES: Readonly<Record<string, (path: string) => Request>> = {
  exists: (path) => exists(path, true),
  getData: (path) => getData(path, true),
  getChildren: (path) => getChildren(path, true),
  getChildren2: (path) => getChildren2(path, true),
  persistent: (path) => addWatch(path, 0),
  recursive: (path) => addWatch(path, 1),
};

export const watches: Group = {
  name: 'watches',
  scenarios: {
    ...Object.fromEntries(
      Object.entries(WATCHES).flatMap(([name, watch]) => [
        [`${name}, where there is nothing`, (stage: Stage) => liveWith(stage, watch, false)],
        [`${name}, on a node`, (stage: Stage) => liveWith(stage, watch, true)],
      ]),
    ),
    'two watches of one client fire once': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      for (const watch of [getData, getData, exists]) await b.ask(watch('/x', true));
      await a.ask(setData('/x', 'one'));
      await a.ask(setData('/x', 'two'));
      for (const watch of [getData, getChildren]) await b.ask(watch('/x', true));
      await a.ask(remove('/x'));
      await a.ask(create('/x'));
    },
    'the watches of two clients both fire': async (stage) => {
      const [a, b, c] = [await stage.open('a'), await stage.open('b'), await stage.open('c')];
      await a.ask(create('/x'));
      for (const client of [a, b, c]) await client.ask(getData('/x', true));
      await b.ask(setData('/x', 'one'));
      for (const client of [a, b, c]) await client.ask(getChildren('/', true));
      await c.ask(create('/y'));
    },
    'an event comes before the answer to what caused it': async (stage) => {
      const a = await stage.open('a');
      await a.ask(getChildren('/', true));
      await a.ask(exists('/x', true));
      await a.ask(create('/x'));
      await a.ask(getData('/x', true));
      await a.ask(getChildren('/x', true));
      await a.ask(getChildren('/', true));
      await a.ask(remove('/x'));
    },
    'a watch that was not asked for is not there': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await b.ask(getData('/x', true));
      await a.ask(setData('/x', 'one'));
      await b.ask(getData('/x', false));
      await b.ask(getChildren('/no', true));
      await b.ask(getData('/no', true));
      await a.ask(setData('/x', 'two'));
      await a.ask(create('/no'));
    },
    'an attempt that fails fires nothing': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await a.ask(create('/x/y'));
      await b.ask(getData('/x', true));
      await b.ask(getChildren('/x', true));
      await b.ask(exists('/x/y', true));
      for (const request of [setData('/x', 'x', 9), remove('/x'), create('/x'), create('/x/y'), remove('/x/y', 9)]) {
        await a.ask(request);
      }
    },
    'the end of a session notifies the watchers of its nodes': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/p'));
      await a.ask(create('/p/e', { flags: 1 }));
      await a.ask(create('/f', { flags: 1 }));
      await b.ask(getData('/p/e', true));
      await b.ask(getChildren('/p', true));
      await b.ask(getData('/f', true));
      await b.ask(addWatch('/', 1));
      await a.close();
    },
    'a client that closes hears of the end of its own nodes': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/e', { flags: 1 }));
      await a.ask(getData('/e', true));
      await a.close();
    },
    'watches end with the connection': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await b.ask(getData('/x', true));
      await b.ask(addWatch('/', 1));
      await b.drop();
      await b.resume();
      await a.ask(setData('/x', 'one'));
      await a.ask(create('/x/y'));
    },
    'a persistent watch stays until it is removed': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await b.ask(addWatch('/x', 0));
      for (const request of life('/x')) await a.ask(request);
      for (const request of life('/x')) await a.ask(request);
      await b.ask(removeWatches('/x', 3));
      for (const request of life('/x')) await a.ask(request);
    },
    'one client, several kinds on one path': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await b.ask(addWatch('/x', 1));
      await b.ask(exists('/x', true));
      for (const request of life('/x')) await a.ask(request);
      await b.ask(addWatch('/x', 0));
      await b.ask(getChildren('/', true));
      for (const request of life('/x')) await a.ask(request);
      await b.ask(addWatch('/', 1));
      await b.ask(addWatch('/x', 1));
      for (const request of life('/x')) await a.ask(request);
    },
    'every mode to add': async (stage) => {
      const a = await stage.open('a');
      for (const mode of [0, 1, 2, 3, -1, 99]) await a.ask(addWatch(`/m${mode}`, mode));
    },
    'a recursive watch looks at the names, not at the letters': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await b.ask(addWatch('/x', 1));
      await a.ask(create('/xx'));
      await a.ask(create('/x'));
      await a.ask(create('/x/y'));
      await a.ask(create('/x/y/z'));
      await a.ask(setData('/x/y/z', 'x'));
      await a.ask(remove('/x/y/z'));
      await b.ask(getChildren('/x', true));
      await a.ask(create('/x/last'));
    },
    'the paths that are watched': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(getData('/x', true));
      await a.ask(getChildren('/y', true));
      await a.ask(exists('/z', true));
      await a.ask(addWatch('/p', 0));
      await a.ask(addWatch('/r', 1));
      for (const path of ['/x', '/y', '/z', '/p', '/r', '/r/below', '/no']) {
        for (const type of [1, 2, 3]) await a.ask(checkWatches(path, type));
      }
      for (const type of [0, 4, -1]) await a.ask(checkWatches('/x', type));
    },
    'the paths that are not watched any more': async (stage) => {
      for (const type of [1, 2, 3]) {
        const [a, b] = [await stage.open(`a${type}`), await stage.open(`b${type}`)];
        await a.ask(create('/x'));
        await b.ask(getData('/x', true));
        await b.ask(getChildren('/x', true));
        await b.ask(removeWatches('/x', type));
        await b.ask(removeWatches('/x', type));
        await a.ask(setData('/x', 'one'));
        await a.ask(create('/x/y'));
        await a.ask(remove('/x/y'));
        await a.ask(remove('/x'));
      }
    },
    'persistent ones that are removed by kind': async (stage) => {
      for (const mode of [0, 1]) {
        for (const type of [1, 2, 3]) {
          const name = `${mode}${type}`;
          const [a, b] = [await stage.open(`a${name}`), await stage.open(`b${name}`)];
          await b.ask(addWatch('/x', mode));
          await b.ask(removeWatches('/x', type));
          await b.ask(checkWatches('/x', 3));
          for (const request of life('/x')) await a.ask(request);
          await b.close();
        }
      }
    },
    'removing the watch of another': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await a.ask(getData('/x', true));
      await b.ask(removeWatches('/x', 3));
      await b.ask(setData('/x', 'x'));
    },
    'odd kinds to remove': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(getData('/x', true));
      for (const type of [0, 4, -1, 99]) await a.ask(removeWatches('/x', type));
      await a.ask(checkWatches('/x', 2));
    },
    'a sequential node is watched under its real name': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await b.ask(exists('/s-0000000000', true));
      await b.ask(exists('/s-', true));
      await a.ask(create('/s-', { flags: 2 }));
    },
    'permissions that change wake nobody': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await b.ask(getData('/x', true));
      await b.ask(getChildren('/x', true));
      await a.ask(setAcl('/x', OPEN));
      await a.ask(sync('/x'));
    },
    'a transaction that makes and deletes': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await b.ask(exists('/x', true));
      await b.ask(addWatch('/', 0));
      await a.ask(multi([create('/x'), remove('/x'), create('/x')]));
    },
  },
};

/** All changes that can happen to a node. */
function life(path: string): readonly Request[] {
  return [
    create(path),
    setData(path, 'x'),
    create(`${path}/y`),
    setData(`${path}/y`, 'x'),
    create(`${path}/y/z`),
    remove(`${path}/y/z`),
    remove(`${path}/y`),
    remove(path),
  ];
}

/** Performs the changes one by one, with a client that sets a watch before each of them. */
async function liveWith(stage: Stage, watch: (path: string) => Request, isThere: boolean): Promise<void> {
  const [a, b]: [RawClient, RawClient] = [await stage.open('a'), await stage.open('b')];
  if (isThere) await a.ask(create('/x'));
  for (const request of life('/x').slice(isThere ? 1 : 0)) {
    await b.ask(watch('/x'));
    await a.ask(request);
  }
}
