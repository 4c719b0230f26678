import {
  create,
  create2,
  exists,
  getAllChildrenNumber,
  getChildren,
  getChildren2,
  getData,
  getEphemerals,
  remove,
  setData,
  sync,
} from '../wire/node-requests.js';
import { ping, whoAmI } from '../wire/session-requests.js';
import type { Group } from './group.js';

export const changes: Group = {
  name: 'changes',
  scenarios: {
    'the nodes of a fresh server': async (stage) => {
      const a = await stage.open('a');
      for (const path of ['/zookeeper', '/zookeeper/quota', '/zookeeper/config']) await a.ask(getData(path));
      for (const path of ['/', '/zookeeper']) await a.ask(getChildren(path));
      await stage.sayTree();
    },
    'data is set, version by version': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x', { data: 'one' }));
      await stage.moment();
      await a.ask(setData('/x', 'two'));
      await stage.moment();
      await a.ask(setData('/x', 'three', 1));
      await a.ask(setData('/x', 'four', 1));
      await a.ask(setData('/x', 'four', 3));
      await a.ask(setData('/x', 'four', -2));
      await a.ask(setData('/x', null));
      await a.ask(getData('/x'));
      await a.ask(setData('/x', ''));
      await a.ask(getData('/x'));
      await a.ask(setData('/no', 'x'));
      await a.ask(setData('/no', 'x', 3));
      await a.ask(setData('/', 'of the root'));
      await a.ask(getData('/'));
      await a.ask(setData('/', ''));
    },
    'a node is deleted': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(create('/x/y'));
      await a.ask(remove('/x'));
      await a.ask(remove('/x/y', 1));
      await a.ask(remove('/x/y', -2));
      await a.ask(remove('/x/y', 0));
      await a.ask(remove('/x/y', 0));
      await a.ask(setData('/x', 'two'));
      await a.ask(remove('/x', 0));
      await a.ask(remove('/x', 1));
      await a.ask(exists('/x'));
    },
    'nodes that cannot be deleted': async (stage) => {
      const a = await stage.open('a');
      for (const path of ['/', '/zookeeper', '/zookeeper/quota', '/no', '/no/where']) await a.ask(remove(path));
      await a.ask(remove('/zookeeper/config'));
      await a.ask(create('/zookeeper/x'));
      await a.ask(create('/zookeeper/config/x'));
      await a.ask(setData('/zookeeper/config', 'x'));
      await a.ask(getChildren('/zookeeper'));
    },
    'children count, and so do those that are gone': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/p'));
      for (const name of ['one', 'two', 'three']) await a.ask(create(`/p/${name}`));
      await a.ask(getChildren2('/p'));
      await a.ask(remove('/p/two'));
      await a.ask(getChildren2('/p'));
      await a.ask(create('/p/one/deep'));
      await a.ask(exists('/p'));
      await a.ask(exists('/p/one'));
      await a.ask(setData('/p/one', 'x'));
      await a.ask(exists('/p'));
      await a.ask(getAllChildrenNumber('/p'));
      await a.ask(getAllChildrenNumber('/p/one'));
      await a.ask(getAllChildrenNumber('/p/one/deep'));
      await a.ask(remove('/p/one/deep'));
      await a.ask(remove('/p/one'));
      await a.ask(remove('/p/three'));
      await a.ask(exists('/p'));
      await a.ask(getChildren('/p'));
    },
    'a node that is not there is not read': async (stage) => {
      const a = await stage.open('a');
      for (const read of [exists, getData, getChildren, getChildren2]) await a.ask(read('/no'));
      await a.ask(getAllChildrenNumber('/no'));
      await a.ask(getAllChildrenNumber('/'));
      await a.ask(sync('/no'));
      await a.ask(sync('/'));
    },
    'my ephemeral nodes, not those of others': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/p'));
      for (const path of ['/p/one', '/p/two', '/other', '/pp']) await a.ask(create(path, { flags: 1 }));
      await b.ask(create('/p/of-b', { flags: 1 }));
      for (const path of ['/', '/p', '/p/', '/p/one', '/o', '/no', '']) await a.ask(getEphemerals(path));
      await a.ask(remove('/p/one'));
      await a.ask(getEphemerals('/p'));
      await b.ask(getEphemerals('/'));
    },
    'an attempt that fails takes a transaction all the same': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(create('/x'));
      await a.ask(remove('/no'));
      await a.ask(setData('/x', 'x', 9));
      await a.ask(ping);
      await a.ask(exists('/x'));
      await a.ask(create2('/y'));
      const b = await stage.open('b');
      await b.ask(create2('/z'));
      await b.close();
      await a.ask(create2('/last'));
    },
    'the identity of a client': async (stage) => {
      const a = await stage.open('a');
      await a.ask(whoAmI);
    },
    'answers come in the order of the questions': async (stage) => {
      const a = await stage.open('a');
      await a.askAll([
        create('/x'),
        getData('/x', true),
        setData('/x', 'two'),
        ping,
        getChildren('/', true),
        remove('/x'),
        sync('/x'),
        exists('/x'),
        ping,
      ]);
    },
  },
};
