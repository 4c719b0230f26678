import { Fields, OPEN } from '../wire/fields.js';
import { multi, multiRead } from '../wire/multi-requests.js';
import {
  check,
  create,
  create2,
  createContainer,
  createTtl,
  exists,
  getChildren,
  getChildren2,
  getData,
  remove,
  setAcl,
  setData,
  sync,
} from '../wire/node-requests.js';
import { Op } from '../wire/op.js';
import type { Request } from '../wire/request.js';
import { anything, closeSession } from '../wire/session-requests.js';
import { addWatch } from '../wire/watch-requests.js';
import type { Group } from './group.js';

export const transactions: Group = {
  name: 'transactions',
  scenarios: {
    'all kinds in one, under one transaction id': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/old'));
      await a.ask(create('/gone'));
      await a.ask(
        multi([
          create('/plain', { data: 'x' }),
          create2('/second', { data: 'y' }),
          createContainer('/box'),
          createTtl('/soon', 60_000),
          check('/old', 0),
          setData('/old', 'new', 0),
          remove('/gone'),
          create('/e', { flags: 1 }),
          create('/s-', { flags: 2 }),
          create2('/s-', { flags: 3 }),
        ]),
      );
      await stage.sayTree();
    },
    'the first that fails undoes all, wherever it stands': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/there'));
      const good = [create('/one'), setData('/there', 'x'), create('/s-', { flags: 2 })];
      for (let at = 0; at <= good.length; at++) await a.ask(multi(good.toSpliced(at, 0, create('/there'))));
      await stage.sayTree();
    },
    'every way to fail': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await a.ask(create('/x/child'));
      await a.ask(create('/e', { flags: 1 }));
      const failing = [
        create('/x'),
        create('/no/x'),
        create('/e/x'),
        create('/bad/'),
        create('/flags', { flags: 99 }),
        create('/acl', { acl: [] }),
        create2('/x'),
        createContainer('/x'),
        createTtl('/ttl', -1),
        remove('/no'),
        remove('/x'),
        remove('/x/child', 5),
        setData('/no', 'x'),
        setData('/x', 'x', 5),
        check('/no', 0),
        check('/no', -1),
        check('/x', 5),
      ];
      await b.ask(getChildren('/', true));
      for (const request of failing) await a.ask(multi([create('/before'), request, create('/after')]));
      await stage.sayTree();
    },
    'creates with the flags of another kind': async (stage) => {
      const a = await stage.open('a');
      const withTtl = (path: string, { flags = 0 }) => createTtl(path, 60_000, { flags });
      for (const [kind, creation] of [create, create2, createContainer, withTtl].entries()) {
        for (const flags of [0, 1, 2, 3, 4, 5, 6]) {
          await a.ask(multi([create(`/b${kind}${flags}`), creation(`/k${kind}f${flags}`, { flags })]));
          await a.ask(multi([check('/no'), creation(`/n${kind}f${flags}`, { flags })]));
        }
      }
      await stage.sayTree();
    },
    'one operation sees what those before it did': async (stage) => {
      const a = await stage.open('a');
      await a.ask(multi([create('/x'), create('/x/y'), setData('/x/y', 'one', 0), setData('/x/y', 'two', 1)]));
      await a.ask(getData('/x/y'));
      await a.ask(multi([remove('/x/y', 2), remove('/x'), create('/x', { flags: 1 })]));
      await a.ask(exists('/x'));
      await a.ask(multi([create('/p'), create('/p/s', { flags: 2 }), create('/p/s', { flags: 2 }), remove('/p')]));
      await a.ask(multi([create('/p'), create('/p/s', { flags: 2 }), create('/p/s', { flags: 2 })]));
      await a.ask(multi([create('/x/under-an-ephemeral')]));
      await stage.sayTree();
    },
    'the count of children is undone with them': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/p'));
      await a.ask(multi([create('/p/s', { flags: 2 }), create('/p/s', { flags: 2 }), check('/no')]));
      await a.ask(create2('/p/s', { flags: 2 }));
      await a.ask(exists('/p'));
      await a.ask(multi([remove('/p/s0000000000'), create('/p/x'), check('/p', 9)]));
      await a.ask(exists('/p'));
      await a.ask(exists('/p/s0000000000'));
    },
    'nothing but checks': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(multi([check('/x')]));
      await a.ask(multi([check('/x', 0), check('/', 0)]));
      await a.ask(multi([check('/x', 1)]));
      await a.ask(exists('/x'));
    },
    'nothing at all': async (stage) => {
      const a = await stage.open('a');
      await a.ask(multi([]));
      await a.ask(create2('/x'));
    },
    'watches fire once it is done, in order, or not at all': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      await b.ask(getData('/x', true));
      await b.ask(getChildren('/', true));
      await b.ask(exists('/y', true));
      await a.ask(multi([create('/y'), setData('/x', 'x'), check('/no')]));
      await a.ask(multi([create('/y'), setData('/x', 'x'), remove('/y'), create('/z')]));
      await b.ask(addWatch('/', 1));
      await a.ask(multi([create('/y'), setData('/y', 'x'), remove('/y')]));
    },
    'ephemeral nodes of a transaction go with the session': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(multi([create('/one', { flags: 1 }), create2('/two', { flags: 3 })]));
      await b.ask(getChildren('/', true));
      await a.close();
      await b.ask(getChildren('/'));
    },
    'a transaction of what it may not hold': async (stage) => {
      const odd = [
        exists('/'),
        getData('/'),
        getChildren('/'),
        getChildren2('/'),
        setAcl('/', OPEN),
        sync('/'),
        closeSession,
        multi([create('/x')]),
        anything(999),
        anything(Op.multi, Buffer.alloc(4)),
        anything(-1, Buffer.alloc(4)),
      ];
      for (const [place, request] of odd.entries()) {
        const a = await stage.open(`a${place}`);
        await a.ask(multi([create('/before'), request]));
        if (a.isOpen) await a.ask(exists('/before'));
      }
    },
    'a transaction that ends too early': async (stage) => {
      const whole = multi([create('/x'), create('/y')]).body;
      for (const length of [0, 4, 8, 9, 20, whole.length - 9, whole.length - 1]) {
        const a = await stage.open(`of ${length}`);
        await a.ask(anything(Op.multi, whole.subarray(0, length)));
        if (a.isOpen) await a.ask(exists('/x'));
      }
    },
    'a header that says that it is done': async (stage) => {
      const a = await stage.open('a');
      await a.ask({ ...multi([]), body: new Fields().int(1).bool(true).int(0).toBuffer() });
      await a.ask({ ...multi([]), body: new Fields().raw(multi([]).body).raw(Buffer.alloc(5)).toBuffer() });
    },
    'many operations': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/p'));
      const made = Array.from({ length: 200 }, (_, at) => create(`/p/${at}`));
      await a.ask(quiet(multi(made)));
      await a.ask(exists('/p'));
      await a.ask(quiet(multi(made.map((_, at) => remove(`/p/${at}`)))));
      await a.ask(exists('/p'));
    },
    'reads in one': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x', { data: 'x' }));
      await a.ask(create('/x/y'));
      await a.ask(multiRead([getData('/x'), getChildren('/x'), getData('/no'), getChildren('/no'), getData('/x/y')]));
      await a.ask(multiRead([]));
      await a.ask(multiRead([getData('/x', true), getChildren('/x', true)]));
      await a.ask(setData('/x', 'two'));
      await a.ask(remove('/x/y'));
    },
    'reads that may not be in one': async (stage) => {
      for (const [place, request] of [exists('/'), create('/x'), getChildren2('/'), check('/')].entries()) {
        const a = await stage.open(`a${place}`);
        await a.ask(multiRead([getData('/zookeeper'), request]));
      }
    },
  },
};

/** The request with a shortened text. */
const quiet = (request: Request): Request => ({ ...request, text: `${request.text.slice(0, 60)}…` });
