import {
  check,
  create,
  createContainer,
  exists,
  getAcl,
  getAllChildrenNumber,
  getChildren,
  getChildren2,
  getData,
  getEphemerals,
  remove,
  setAcl,
  setData,
  sync,
} from '../wire/node-requests.js';
import { OPEN } from '../wire/fields.js';
import { multi } from '../wire/multi-requests.js';
import { addWatch, checkWatches, removeWatches, setWatches } from '../wire/watch-requests.js';
import type { Group } from './group.js';

const ODD: readonly (string | null)[] = [
  null,
  '',
  'x',
  '//',
  '/x/',
  '//x',
  '/x//y',
  '/.',
  '/..',
  '/x/.',
  '/x/../y',
  '/x/./y',
  '/nul\u0000',
  '/bell\u0007',
  '/tab\t',
  '/del\u007f',
  '/c1\u0085',
  '/private\ue000',
  '/\ufff0',
  '/\uffff',
  '/x/y/',
  '/ ',
];

export const paths: Group = {
  name: 'paths',
  scenarios: {
    'odd ones to create': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      for (const path of ODD) await a.ask(create(path));
      await a.ask(getChildren('/'));
    },
    'odd ones to create, with a number behind': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      for (const path of ODD) await a.ask(create(path, { flags: 2 }));
      await a.ask(getChildren('/'));
      await a.ask(getChildren('/x'));
    },
    'odd ones to create as containers': async (stage) => {
      const a = await stage.open('a');
      for (const path of ODD) await a.ask(createContainer(path));
    },
    'odd ones to delete': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      for (const path of ODD) await a.ask(remove(path));
    },
    'odd ones to write': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      for (const path of ODD) await a.ask(setData(path, 'data'));
      for (const path of ODD) await a.ask(setAcl(path, OPEN));
    },
    'odd ones to read': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      for (const path of ODD) await a.ask(exists(path));
      for (const path of ODD) await a.ask(getData(path));
      for (const path of ODD) await a.ask(getChildren(path));
      for (const path of ODD) await a.ask(getChildren2(path));
      for (const path of ODD) await a.ask(getAcl(path));
      for (const path of ODD) await a.ask(getAllChildrenNumber(path));
      for (const path of ODD) await a.ask(getEphemerals(path));
      for (const path of ODD) await a.ask(sync(path));
    },
    'odd ones to watch': async (stage) => {
      const a = await stage.open('a');
      for (const path of ODD.slice(1)) await a.ask(exists(path, true));
      for (const path of ODD.slice(1)) await a.ask(addWatch(path, 0));
      for (const path of ODD.slice(1)) await a.ask(checkWatches(path, 3));
      for (const path of ODD.slice(1)) await a.ask(removeWatches(path, 3));
    },
    'a watch on nothing': async (stage) => {
      for (const request of [exists(null, true), addWatch(null, 0), checkWatches(null, 3), removeWatches(null, 3)]) {
        const a = await stage.open('a');
        await a.ask(request);
        await a.saysWhetherClosed();
      }
    },
    'odd ones in a transaction': async (stage) => {
      const a = await stage.open('a');
      for (const path of ODD.slice(1)) await a.ask(multi([create('/ok'), create(path)]));
      for (const path of ODD.slice(1)) await a.ask(multi([check(path), create('/ok')]));
    },
    'odd ones that were watched': async (stage) => {
      const a = await stage.open('a');
      await a.ask(setWatches(a.lastZxid, 'now', { data: ['x'], exist: ['//'], child: ['/x/'] }));
    },
  },
};
