import {
  create,
  create2,
  createContainer,
  createTtl,
  exists,
  getChildren,
  getData,
  remove,
} from '../wire/node-requests.js';
import type { Group } from './group.js';

const CREATIONS = [create, create2, createContainer];

export const creations: Group = {
  name: 'creations',
  scenarios: {
    'a node with data, and its stat': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x', { data: 'one' }));
      await a.ask(getData('/x'));
      await stage.moment();
      await a.ask(create2('/y', { data: '' }));
      await a.ask(create2('/z', { data: null }));
      await a.ask(getData('/y'));
      await a.ask(getData('/z'));
      await a.ask(create2('/x/below', { data: 'two' }));
      await a.ask(getData('/x'));
    },
    'every flag with every kind of create': async (stage) => {
      const a = await stage.open('a');
      for (const [kind, creation] of CREATIONS.entries()) {
        for (const flags of [0, 1, 2, 3, 4, 5, 6, 7, -1, 2_147_483_647]) {
          await a.ask(creation(`/k${kind}f${flags}`, { flags }));
        }
      }
      await a.ask(getChildren('/'));
    },
    'one that is there': async (stage) => {
      const a = await stage.open('a');
      for (const creation of CREATIONS) await a.ask(creation('/x'));
      await a.ask(create('/x', { flags: 1 }));
      await a.ask(create('/x', { flags: 2 }));
      await a.ask(create('/'));
      await a.ask(create('/', { flags: 2 }));
      await a.ask(create('/zookeeper'));
      await a.ask(exists('/'));
    },
    'one without a parent': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/no/x'));
      await a.ask(create2('/no/x', { flags: 3 }));
      await a.ask(create2('/no/where/x', { flags: 1 }));
      await a.ask(exists('/'));
    },
    'an ephemeral node has no children': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create2('/e', { flags: 1 }));
      await a.ask(create('/e/x'));
      await a.ask(create('/e/x', { flags: 3 }));
      await a.ask(exists('/e'));
    },
    'a sequence counts every child that was made, and none that was deleted': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/p'));
      await a.ask(create('/p/s-', { flags: 2 }));
      await a.ask(create('/p/plain'));
      await a.ask(create('/p/s-', { flags: 3 }));
      await a.ask(remove('/p/plain'));
      await a.ask(remove('/p/s-0000000000'));
      await a.ask(create2('/p/t-', { flags: 2 }));
      await a.ask(create('/p/plain'));
      await a.ask(create('/p/plain'));
      await a.ask(create('/p/', { flags: 2 }));
      await a.ask(create('/p/', { flags: 3 }));
      await a.ask(exists('/p'));
    },
    'a sequence begins again under a parent that was made again': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/p'));
      await a.ask(create('/p/s', { flags: 2 }));
      await a.ask(remove('/p/s0000000000'));
      await a.ask(remove('/p'));
      await a.ask(create2('/p'));
      await a.ask(create2('/p/s', { flags: 2 }));
    },
    'the owner of an ephemeral node': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create2('/a', { flags: 1 }));
      await b.ask(create2('/b', { flags: 3 }));
      await b.ask(exists('/a'));
      await b.ask(remove('/a'));
      await a.ask(create2('/a', { flags: 0 }));
    },
    'a time to live': async (stage) => {
      const a = await stage.open('a');
      await a.ask(createTtl('/t', 60_000));
      await a.ask(createTtl('/t-', 60_000, { flags: 6 }));
      await a.ask(createTtl('/t', 60_000));
      for (const ttlMs of [0, -1, 1_099_511_627_775, 1_099_511_627_776]) await a.ask(createTtl('/other', ttlMs));
      for (const flags of [0, 1, 2, 4, 9]) await a.ask(createTtl(`/flags${flags}`, 60_000, { flags }));
      await a.ask(create('/t/child'));
      await a.ask(exists('/t'));
    },
    'data of many sizes': async (stage) => {
      const a = await stage.open('a');
      for (const size of [1, 1_000, 100_000, 1_000_000]) {
        await a.ask(create(`/of${size}`, { data: Buffer.alloc(size, 'x') }));
        await a.ask(getData(`/of${size}`));
      }
    },
    'names of many letters': async (stage) => {
      const a = await stage.open('a');
      for (const path of ['/ü', '/日本', '/😀', '/a b', '/%', '/a:b', '/...', '/.a', '/a.']) await a.ask(create(path));
      await a.ask(getChildren('/'));
      await a.ask(exists('/日本'));
    },
    'a deep path': async (stage) => {
      const a = await stage.open('a');
      let path = '';
      for (let depth = 0; depth < 20; depth++) await a.ask(create((path += '/d')));
      await a.ask(exists('/d'));
    },
  },
};

export const noExtendedTypes: Group = {
  name: 'no-extended-types',
  settings: { extendedTypes: false },
  scenarios: {
    'no time to live': async (stage) => {
      const a = await stage.open('a');
      await a.ask(createTtl('/t', 1_000));
      await a.ask(createTtl('/t', 0));
      await a.ask(createTtl('/t', 1_000, { flags: 6 }));
      await a.ask(createTtl('/t', 1_000, { flags: 0 }));
      await a.ask(createContainer('/c'));
      await a.ask(create('/five', { flags: 5 }));
      await a.ask(getChildren('/'));
    },
  },
};
