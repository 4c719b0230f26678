import { requestFrame } from '../../../lib/zookeeper/wire/records.js';
import { handshakeFrame } from '../stage/handshake.js';
import { Fields, OPEN } from '../wire/fields.js';
import { create, exists, getChildren, getData, setData } from '../wire/node-requests.js';
import { Op, XID } from '../wire/op.js';
import { anything, closeSession, ping } from '../wire/session-requests.js';
import type { Group } from './group.js';

/** Messages that no client sends. */
export const oddities: Group = {
  name: 'oddities',
  scenarios: {
    'types that there are not': async (stage) => {
      for (const type of [10, 23, 99, 108, 1_000, 2_147_483_647, -2, -12, -2_147_483_648]) {
        const a = await stage.open(`of ${type}`);
        await a.ask(anything(type));
        await a.saysWhetherClosed();
        if (a.isOpen) await a.ask(exists('/'));
      }
    },
    'types that are not for clients': async (stage) => {
      for (const type of [Op.notification, Op.check, 20, Op.error]) {
        const a = await stage.open(`of ${type}`);
        await a.ask(anything(type, exists('/').body));
        await a.saysWhetherClosed();
        if (a.isOpen) await a.ask(exists('/'));
      }
    },
    'requests that this server does not serve': async (stage) => {
      const reconfig = new Fields().string('server.1=x').string(null).string(null).long(-1n).toBuffer();
      for (const [type, body] of [
        [Op.reconfig, reconfig],
        [Op.sasl, new Fields().buffer(Buffer.from('token')).toBuffer()],
        [Op.sasl, Buffer.alloc(0)],
      ] as const) {
        const a = await stage.open(`of ${type}`);
        await a.ask(anything(type, body));
        if (a.isOpen) await a.ask(exists('/'));
      }
    },
    'requests that end too early': async (stage) => {
      const bodies: readonly (readonly [number, Buffer])[] = [
        [Op.create, create('/x').body],
        [Op.delete, exists('/x').body],
        [Op.exists, exists('/x').body],
        [Op.getData, getData('/').body],
        [Op.setData, setData('/', 'x').body],
        [Op.getChildren, getChildren('/').body],
        [Op.getChildren2, getChildren('/').body],
        [Op.getAcl, new Fields().string('/').toBuffer()],
        [Op.setAcl, new Fields().string('/').acl(OPEN).int(-1).toBuffer()],
        [Op.sync, new Fields().string('/').toBuffer()],
        [Op.setWatches, Buffer.alloc(9)],
        [Op.addWatch, new Fields().string('/').int(0).toBuffer()],
        [Op.removeWatches, new Fields().string('/').int(3).toBuffer()],
        [Op.createTtl, create('/x', { flags: 5 }).body],
        [Op.getEphemerals, new Fields().string('/').toBuffer()],
        [Op.auth, new Fields().int(0).string('digest').toBuffer()],
      ];
      for (const [type, body] of bodies) {
        for (const length of [0, body.length - 1]) {
          const a = await stage.open(`of ${type}`);
          await a.ask(anything(type, body.subarray(0, length), type === Op.auth ? XID.auth : undefined));
          if (a.isOpen) await a.ask(exists('/'));
        }
      }
    },
    'requests that are longer than they have to be': async (stage) => {
      const a = await stage.open('a');
      for (const request of [create('/x'), exists('/x'), setData('/x', 'x'), ping]) {
        await a.ask({ ...request, body: Buffer.concat([request.body, Buffer.alloc(7, 1)]) });
      }
    },
    'lengths that cannot be': async (stage) => {
      for (const length of [-2, -2_147_483_648, 2_147_483_647, 1_000_000]) {
        const a = await stage.open(`of ${length}`);
        await a.ask(anything(Op.exists, new Fields().int(length).raw(Buffer.from('/x')).toBuffer()));
        if (a.isOpen) await a.ask(exists('/'));
        const b = await stage.open(`create ${length}`);
        await b.ask(anything(Op.create, new Fields().string('/x').int(length).raw(Buffer.from('x')).toBuffer()));
        if (b.isOpen) await b.ask(exists('/'));
        const c = await stage.open(`acl ${length}`);
        await c.ask(anything(Op.create, new Fields().string('/y').buffer(null).int(length).int(0).toBuffer()));
        if (c.isOpen) await c.ask(exists('/y'));
      }
    },
    'frames whose length cannot be': async (stage) => {
      for (const length of [-1, -2_147_483_648, 1_048_575, 1_048_576, 2_147_483_647, 4, 7]) {
        const a = await stage.open(`of ${length}`);
        a.isSilent = true;
        const bytes = new Fields().int(length).int(1).int(Op.ping).raw(Buffer.alloc(64)).toBuffer();
        // This length is valid: the server waits for the rest of the frame.
        if (length === 1_048_575) continue;
        await a.throwIn(`a frame of ${length} bytes`, bytes);
      }
    },
    'the largest frame that may be': async (stage) => {
      const a = await stage.open('a');
      const overhead = setData('/x', '').body.length + 8;
      await a.ask(create('/x'));
      await a.ask(setData('/x', Buffer.alloc(1_048_575 - overhead, 'x')));
      await a.ask(exists('/x'));
      const b = await stage.open('b');
      await b.ask(setData('/x', Buffer.alloc(1_048_576 - overhead, 'y')));
      await a.ask(exists('/x'));
    },
    'requests without a handshake': async (stage) => {
      const a = await stage.client('a').openSocket();
      await a.greet('a request in place of a handshake', requestFrame(1, Op.exists, exists('/').body));
      await a.closed();
      const b = await stage.client('b').openSocket();
      await b.greet('zeros in place of a handshake', Buffer.concat([lengthOf(44), Buffer.alloc(44)]));
    },
    'a second handshake is read as a request': async (stage) => {
      const a = await stage.open('a');
      a.isSilent = true;
      await a.throwIn('a second handshake', handshakeFrame({}));
    },
    'numbers that requests may have': async (stage) => {
      const a = await stage.open('a');
      for (const xid of [0, 5, 5, 1, -3, -9, 2_147_483_647, -2_147_483_648]) {
        await a.ask({ ...exists('/'), xid });
      }
    },
    'numbers that are those of other kinds': async (stage) => {
      const a = await stage.open('a');
      a.isSilent = true;
      for (const xid of [XID.ping, XID.auth, XID.setWatches]) await a.ask({ ...exists('/'), xid });
      await a.ask({ ...ping, xid: 9 });
      await a.ask({ ...ping, body: Buffer.alloc(3) });
    },
    'a goodbye with a body': async (stage) => {
      const a = await stage.open('a');
      await a.ask({ ...closeSession, body: Buffer.alloc(5) });
      await a.closed();
    },
    'a text that is none': async (stage) => {
      const a = await stage.open('a');
      const path = new Fields().buffer(Buffer.of(0x2f, 0xff, 0xfe)).toBuffer();
      await a.ask(anything(Op.sync, path));
      await a.ask({
        ...create('/?'),
        text: 'create with bytes that are no text',
        body: new Fields().raw(path).buffer(null).acl(OPEN).int(0).toBuffer(),
      });
      await a.ask(getChildren('/'));
    },
  },
};

function lengthOf(bytes: number): Buffer {
  return new Fields().int(bytes).toBuffer();
}
