import { createHash } from 'node:crypto';
import { SUPER } from '../servers/tested-server.js';
import type { RawClient } from '../stage/raw-client.js';
import { ALL, OPEN } from '../wire/fields.js';
import type { AclEntry } from '../wire/fields.js';
import { multi, multiRead } from '../wire/multi-requests.js';
import {
  check,
  create,
  create2,
  createContainer,
  exists,
  getAcl,
  getAllChildrenNumber,
  getChildren,
  getChildren2,
  getData,
  remove,
  setAcl,
  setData,
  sync,
} from '../wire/node-requests.js';
import { auth, whoAmI } from '../wire/session-requests.js';
import { addWatch, setWatches } from '../wire/watch-requests.js';
import type { Group } from './group.js';

const [READ, WRITE, CREATE, DELETE, ADMIN] = [1, 2, 4, 8, 16];

const digested = (name: string, password: string) =>
  `${name}:${createHash('sha1').update(`${name}:${password}`).digest('base64')}`;

const acl = (permissions: number, scheme = 'world', id: string | null = 'anyone'): AclEntry[] => [
  { permissions, scheme, id },
];

const ANN = digested('ann', 'secret');

export const permissions: Group = {
  name: 'permissions',
  scenarios: {
    'every operation without one permission': async (stage) => {
      const a = await stage.open('a');
      for (const [name, missing] of Object.entries({ READ, WRITE, CREATE, DELETE, ADMIN })) {
        await tryAll(a, `/no-${name}`, ALL & ~missing);
      }
      await stage.sayTree();
    },
    'every operation with one permission': async (stage) => {
      const a = await stage.open('a');
      for (const [name, only] of Object.entries({ READ, WRITE, CREATE, DELETE, ADMIN })) {
        await tryAll(a, `/only-${name}`, only);
      }
      await stage.sayTree();
    },
    'lists of permissions that are none': async (stage) => {
      const a = await stage.open('a');
      const bad: readonly (readonly AclEntry[] | null)[] = [
        null,
        [],
        acl(ALL, 'world', 'somebody'),
        acl(ALL, 'world', ''),
        acl(ALL, 'nothing', 'x'),
        acl(ALL, '', ''),
        acl(ALL, 'digest', 'ann'),
        acl(ALL, 'digest', 'ann:x:y'),
        acl(ALL, 'digest', ''),
        acl(ALL, 'auth', ''),
        acl(ALL, 'ip', '127.0.0.1'),
        acl(ALL, 'ip', '127.0.0.1/8'),
        acl(ALL, 'ip', '127.0.0.1/33'),
        acl(ALL, 'ip', 'localhost'),
        acl(ALL, 'ip', ''),
        acl(0),
        acl(-1),
        acl(255),
        [...OPEN, ...OPEN],
        [...OPEN, ...acl(READ, 'digest', ANN)],
        [...OPEN, ...acl(READ, 'nothing', 'x')],
      ];
      for (const [place, list] of bad.entries()) {
        await a.ask(create(`/n${place}`, { acl: list }));
        await a.ask(getAcl(`/n${place}`));
      }
      await a.ask(create('/x'));
      for (const list of bad.slice(0, 13)) await a.ask(setAcl('/x', list));
      await a.ask(getAcl('/x'));
    },
    'a scheme or an id that is null': async (stage) => {
      for (const list of [
        acl(ALL, null as unknown as string, 'x'),
        acl(ALL, 'world', null),
        acl(ALL, 'digest', null),
        acl(ALL, 'ip', null),
        acl(ALL, 'nothing', null),
        acl(ALL, '', null),
        acl(ALL, null as unknown as string, null),
        acl(ALL, 'auth', null),
        [...acl(ALL, 'auth', null), ...acl(ALL, 'auth', null)],
        [...acl(ALL, 'auth', null), ...OPEN],
        [...OPEN, ...acl(ALL, 'auth', null)],
        [...acl(ALL, 'nothing', 'x'), ...acl(ALL, 'auth', null)],
        [...acl(ALL, 'world', null), ...acl(ALL, 'nothing', 'x')],
        [...acl(ALL, 'nothing', 'x'), ...acl(ALL, 'world', null)],
      ]) {
        const a = await stage.open('a');
        await a.ask(create('/x', { acl: list }));
        await a.ask(setAcl('/', list));
        await a.saysWhetherClosed();
      }
    },
    // kazoo sends an empty id as null, also in its list of permissions for the creator of the node.
    'an id that is null, with the password': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(auth('digest', 'ann:secret'));
      await a.ask(create('/own', { data: 'mine', acl: acl(ALL, 'auth', null) }));
      await a.ask(getAcl('/own'));
      await b.ask(getData('/own'));
      await a.ask(getData('/own'));
      await a.ask(create('/open'));
      await a.ask(setAcl('/open', acl(READ, 'auth', null)));
      await a.ask(getAcl('/open'));
      await a.ask(create('/some', { acl: [...acl(ALL, 'auth', null), ...acl(READ)] }));
      await a.ask(getAcl('/some'));
      await a.ask(
        create('/same', { acl: [...acl(ALL, 'auth', null), ...acl(ALL, 'auth', ''), ...acl(ALL, 'auth', null)] }),
      );
      await a.ask(getAcl('/same'));
      await a.ask(create('/less', { acl: [...acl(ALL, 'auth', null), ...acl(READ, 'auth', null)] }));
      await a.ask(getAcl('/less'));
      await a.ask(create('/wrong', { acl: [...acl(ALL, 'auth', null), ...acl(READ, 'nothing', 'x')] }));
      await a.ask(create2('/two', { acl: acl(ALL, 'auth', null) }));
      await a.ask(createContainer('/box', { acl: acl(ALL, 'auth', null) }));
      await a.ask(multi([create('/many', { acl: acl(ALL, 'auth', null) }), check('/')]));
      await a.ask(multi([create('/never', { acl: acl(ALL, 'digest', null) }), check('/')]));
      await a.ask(multi([create('/never', { acl: acl(ALL, 'nothing', null) }), check('/')]));
      await a.ask(getAcl('/many'));
      await b.ask(auth('digest', 'ann:secret'));
      await b.ask(getData('/own'));
      await b.ask(multi([create('/never', { acl: acl(ALL, 'auth', null) }), check('/never', 7)]));
      await b.saysWhetherClosed();
    },
    'versions of permissions': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/x'));
      await a.ask(setAcl('/x', OPEN, 0));
      await a.ask(setAcl('/x', OPEN, 0));
      await a.ask(setAcl('/x', acl(ALL & ~WRITE), 1));
      await a.ask(setAcl('/x', OPEN, -2));
      await a.ask(setAcl('/no', OPEN, 0));
      await a.ask(getAcl('/x'));
      await a.ask(exists('/x'));
      await a.ask(getAcl('/'));
      await a.ask(getAcl('/no'));
      await a.ask(getAcl('/zookeeper/config'));
    },
    'with the password': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(auth('digest', 'ann:secret'));
      await a.ask(whoAmI);
      await a.ask(create('/own', { data: 'mine', acl: acl(ALL, 'auth', '') }));
      await a.ask(create('/too', { data: 'mine', acl: acl(ALL, 'auth', 'whatever') }));
      await a.ask(getAcl('/own'));
      await a.ask(getAcl('/too'));
      await b.ask(getAcl('/own'));
      await b.ask(getData('/own'));
      await b.ask(exists('/own'));
      await b.ask(auth('digest', 'ann:wrong'));
      await b.ask(getData('/own'));
      await b.ask(auth('digest', 'ann:secret'));
      await b.ask(getData('/own'));
      await b.ask(getAcl('/own'));
      await b.ask(whoAmI);
      await b.ask(create('/both', { acl: acl(ALL, 'auth', '') }));
      await b.ask(getAcl('/both'));
    },
    'one that is only read by others': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(auth('digest', 'ann:secret'));
      await a.ask(create2('/x', { acl: [...acl(ALL, 'digest', ANN), ...acl(READ)] }));
      await b.ask(getData('/x'));
      await b.ask(getAcl('/x'));
      await b.ask(setData('/x', 'x'));
      await b.ask(create('/x/y'));
      await a.ask(create('/x/y'));
      await b.ask(remove('/x/y'));
      await b.ask(setAcl('/x', OPEN));
      await b.ask(multi([create('/z'), setData('/x', 'x')]));
      await b.ask(multi([check('/x')]));
      await a.ask(multi([create('/z'), setData('/x', 'x')]));
    },
    'the digest of others is not shown': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x', { acl: [...acl(ALL, 'digest', ANN), ...acl(READ | ADMIN)] }));
      await b.ask(getAcl('/x'));
      await a.ask(create('/y', { acl: [...acl(ALL, 'digest', ANN), ...acl(READ)] }));
      await b.ask(getAcl('/y'));
      await a.ask(create('/z', { acl: [...acl(ALL, 'digest', ANN), ...acl(WRITE)] }));
      await b.ask(getAcl('/z'));
    },
    'an identity lasts as long as the connection': async (stage) => {
      const a = await stage.open('a');
      await a.ask(auth('digest', 'ann:secret'));
      await a.ask(create('/x', { acl: acl(ALL, 'auth', '') }));
      await a.drop();
      await a.resume();
      await a.ask(getData('/x'));
      await a.ask(auth('digest', 'ann:secret'));
      await a.ask(getData('/x'));
    },
    'the superuser': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x', { acl: acl(0) }));
      await b.ask(auth('digest', SUPER));
      await b.ask(getData('/x'));
      await b.ask(setAcl('/x', acl(ALL)));
      await b.ask(getAcl('/x'));
      await b.ask(getAcl('/zookeeper/config'));
      await b.ask(whoAmI);
      await b.ask(create('/y', { acl: acl(ALL, 'auth', '') }));
      await b.ask(getAcl('/y'));
    },
    'credentials that are none': async (stage) => {
      const bad: readonly (readonly [string | null, string | null])[] = [
        ['nothing', 'x'],
        ['', ''],
        ['digest', ''],
        ['digest', 'ann'],
        ['digest', 'a:b:c'],
        ['world', 'anyone'],
        ['auth', ''],
        ['ip', '127.0.0.1'],
        ['x509', 'x'],
        ['sasl', 'x'],
        [null, 'x'],
        ['digest', null],
      ];
      for (const [scheme, credentials] of bad) {
        const a = await stage.open(`${scheme} ${credentials}`);
        await a.ask(auth(scheme, credentials));
        await a.saysWhetherClosed();
        if (a.isOpen) await a.ask(exists('/'));
      }
    },
    'a watch needs the permission to read': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x', { acl: acl(ALL & ~READ) }));
      await b.ask(getData('/x', true));
      await b.ask(getChildren('/x', true));
      await a.ask(setData('/x', 'x'));
      await b.ask(addWatch('/x', 0));
      await a.ask(setData('/x', 'y'));
      await a.ask(create('/x/y'));
      await b.ask(multiRead([getData('/x'), getData('/x/y')]));
    },
    'events need it as well, of the node or of its parent': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      const closed = acl(ALL & ~READ);
      await a.ask(create('/x'));
      await a.ask(create('/p'));
      await b.ask(getData('/x', true));
      await b.ask(getChildren('/p', true));
      await b.ask(exists('/secret', true));
      await b.ask(exists('/p/secret', true));
      await a.ask(setAcl('/x', closed));
      await a.ask(setAcl('/p', closed));
      await a.ask(setData('/x', 'x'));
      await a.ask(create('/p/open'));
      await a.ask(create('/p/secret', { acl: closed }));
      await a.ask(create('/secret', { acl: closed }));
      await b.ask(exists('/secret', true));
      await b.ask(exists('/p/open', true));
      await a.ask(remove('/secret'));
      await a.ask(remove('/p/open'));
      await a.ask(setAcl('/x', OPEN));
      await a.ask(setData('/x', 'y'));
    },
    'recursive watches tell of what may be read': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await b.ask(addWatch('/x', 1));
      await a.ask(create('/x', { acl: acl(ALL & ~READ) }));
      await a.ask(create('/x/open'));
      await a.ask(create('/x/secret', { acl: acl(ALL & ~READ) }));
      await a.ask(setData('/x/open', 'x'));
      await a.ask(setData('/x/secret', 'x'));
      await a.ask(remove('/x/secret'));
      await a.ask(multi([setData('/x/open', 'y'), remove('/x/open'), create('/x/open', { acl: acl(ALL & ~READ) })]));
    },
    'older watches tell only clients that may read': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      const closed = acl(ALL & ~READ);
      for (const path of ['/data', '/child', '/gone']) await a.ask(create(path));
      const seen = b.lastZxid;
      await a.ask(create('/exist', { acl: closed }));
      await a.ask(setAcl('/data', closed));
      await a.ask(setAcl('/child', closed));
      await a.ask(setData('/data', 'x'));
      await a.ask(create('/child/x'));
      await a.ask(remove('/gone'));
      await b.ask(
        setWatches(seen, 'before', { data: ['/data', '/gone'], exist: ['/exist'], child: ['/child', '/gone'] }),
      );
    },
    'a node that only this machine may use': async (stage) => {
      const a = await stage.open('a');
      await a.ask(create('/here', { data: 'x', acl: acl(ALL, 'ip', '127.0.0.0/8') }));
      await a.ask(create('/there', { data: 'x', acl: acl(ALL, 'ip', '203.0.113.7') }));
      await a.ask(getData('/here'));
      await a.ask(getData('/there'));
    },
  },
};

async function tryAll(client: RawClient, path: string, permitted: number): Promise<void> {
  await client.ask(create(path, { data: 'x' }));
  await client.ask(create(`${path}/old`));
  await client.ask(setAcl(path, acl(permitted)));
  const requests = [
    exists(path),
    getData(path),
    getChildren(path),
    getChildren2(path),
    getAcl(path),
    getAllChildrenNumber(path),
    sync(path),
    setData(path, 'y'),
    create(`${path}/new`),
    createContainer(`${path}/box`),
    remove(`${path}/old`),
    multi([check(path)]),
    multi([setData(path, 'z'), create(`${path}/newer`)]),
    multiRead([getData(path), getChildren(path)]),
    setAcl(path, OPEN),
    remove(path),
  ];
  for (const request of requests) await client.ask(request);
}
