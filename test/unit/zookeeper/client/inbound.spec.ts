import { beforeEach, describe, expect, it, vi } from 'vitest';
import { now } from '../../../../lib/async/clock.js';
import { DriverState } from '../../../../lib/zookeeper/client/driver.js';
import type { ConnectionManager } from '../../../../lib/zookeeper/client/driver.js';
import { Inbound } from '../../../../lib/zookeeper/client/inbound.js';
import { PendingRequest } from '../../../../lib/zookeeper/client/pending-request.js';
import { WatchTables } from '../../../../lib/zookeeper/client/watch-table.js';
import type { Answer } from '../../../../lib/zookeeper/client/zookeeper-client.js';
import { ErrorCode, OpCode, Xid } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';

const NONE: Buffer = Buffer.alloc(0);
const framed = (payload: Buffer) => new JuteWriter().buffer(payload).toBuffer();
const reply = (
  xid: number,
  { zxid = 0n, error = 0, body = NONE }: { zxid?: bigint; error?: number; body?: Buffer } = {},
) => framed(new JuteWriter().int(xid).long(zxid).int(error).raw(body).toBuffer());
const event = (type: number, path: string) =>
  reply(Xid.notification, { zxid: -1n, body: new JuteWriter().int(type).int(3).string(path).toBuffer() });

describe('inbound data', () => {
  let handshake: ReturnType<typeof vi.fn<(chunk: Buffer) => void>>;
  let setState: ReturnType<typeof vi.fn<(state: number) => void>>;
  let destroy: ReturnType<typeof vi.fn<() => void>>;
  let driver: ConnectionManager;
  let watches: WatchTables;
  let answers: Answer[];
  let authenticated: ReturnType<typeof vi.fn<() => void>>;
  let unreadable: unknown[];
  let inbound: Inbound;

  /** A request that was sent with this number and awaits its reply. */
  const sent = (xid: number, type: number = OpCode.create2) => {
    const request = new PendingRequest(type, Buffer.alloc(0), '/a', (whole) => whole);
    request.header.xid = xid;
    request.toBuffer();
    request.reply.catch(() => {});
    driver.pendingQueue.push({ request, callback: () => {} });
    return request;
  };
  const receive = (...chunks: Buffer[]) => chunks.forEach((chunk) => driver.onSocketData(chunk));

  beforeEach(() => {
    handshake = vi.fn<(chunk: Buffer) => void>();
    setState = vi.fn<(state: number) => void>();
    destroy = vi.fn<() => void>();
    driver = {
      state: DriverState.connected,
      zxid: Buffer.alloc(8),
      pendingBuffer: null,
      pendingQueue: [],
      socket: { destroy },
      setState,
      onSocketData: handshake,
    } as unknown as ConnectionManager;
    watches = new WatchTables();
    answers = [];
    unreadable = [];
    authenticated = vi.fn<() => void>();
    inbound = new Inbound(driver, watches, {
      answered: (answer) => void answers.push(answer),
      authenticated,
      unreadable: (error) => void unreadable.push(error),
    });
  });

  describe('as a reply', () => {
    it('answers the oldest pending request, and is reported with its times', async () => {
      const request = sent(1);
      receive(reply(1, { zxid: 5n, body: Buffer.from('00000007', 'hex') }));
      const { zxid, body } = await request.reply;
      expect([zxid, body.int()]).toEqual([5n, 7]);
      expect(answers).toEqual([{ sentAt: request.sentAt, receivedAt: expect.any(Number) as number, isQuorum: true }]);
      expect(answers[0]?.receivedAt).toBeGreaterThanOrEqual(request.sentAt ?? Infinity);
      expect(answers[0]?.receivedAt).toBeLessThanOrEqual(now());
    });

    it('answers pending requests in order', async () => {
      const requests = [sent(1), sent(2)];
      receive(Buffer.concat([reply(1, { zxid: 5n }), reply(2, { zxid: 6n })]));
      expect((await Promise.all(requests.map((request) => request.reply))).map(({ zxid }) => zxid)).toEqual([5n, 6n]);
    });

    it.each([
      [OpCode.getData, ErrorCode.ok, false],
      [OpCode.delete, ErrorCode.noNode, true],
      [OpCode.delete, ErrorCode.throttled, false],
    ])('to request type %i with error %i proves a quorum: %s', (type, error, isQuorum) => {
      sent(1, type);
      receive(reply(1, { error }));
      expect(answers).toMatchObject([{ isQuorum }]);
    });

    it('rejects the request with the server’s error', async () => {
      const request = sent(1);
      receive(reply(1, { error: ErrorCode.nodeExists }));
      await expect(request.reply).rejects.toMatchObject({ code: ErrorCode.nodeExists, path: '/a' });
      expect(unreadable).toEqual([]);
      expect(setState).not.toHaveBeenCalled();
    });

    it('with an unexpected number makes the connection unreadable, and the request counts as lost', async () => {
      const request = sent(1);
      receive(reply(2));
      await expect(request.reply).rejects.toMatchObject({ isConnectionLoss: true });
      expect(unreadable).toMatchObject([{ message: 'reply 2 is not the one that is due' }]);
      expect(answers).toEqual([]);
    });

    it('without a pending request makes the connection unreadable', () => {
      receive(reply(1));
      expect(unreadable).toHaveLength(1);
    });

    it('moves the last seen zxid only forward, and copies it out of the chunk', () => {
      [1, 2, 3].forEach((xid) => sent(xid));
      const chunk = reply(1, { zxid: 9n });
      receive(chunk, reply(2, { zxid: 4n }), reply(3, { zxid: -1n }));
      chunk.fill(0xff);
      expect(driver.zxid.readBigInt64BE()).toBe(9n);
    });

    it('ends the session when the error is sessionExpired', () => {
      sent(1);
      receive(reply(1, { error: ErrorCode.sessionExpired }));
      expect(setState.mock.calls).toEqual([[DriverState.expired]]);
    });

    it('closes the connection when the session has moved to another server', () => {
      sent(1);
      receive(reply(1, { error: ErrorCode.sessionMoved }));
      expect(destroy).toHaveBeenCalledOnce();
    });
  });

  describe('as a watch event', () => {
    it('notifies the watchers, and answers no request', () => {
      const happened = vi.fn<(event: string) => void>();
      watches.data.add('/a', { happened });
      sent(1);
      receive(event(2, '/a'));
      expect(happened.mock.calls).toEqual([['deleted']]);
      expect(driver.pendingQueue).toHaveLength(1);
      expect(answers).toEqual([]);
    });

    it.each([
      [1, 'created'],
      [2, 'deleted'],
      [3, 'changed'],
      [4, 'children'],
      [-1, 'unknown'],
      [0, 'unknown'],
      [5, 'unknown'],
    ] as const)('of type %i is %s', (type, what) => {
      const fire = vi.spyOn(watches, 'fire');
      receive(event(type, '/a'));
      expect(fire.mock.calls).toEqual([['/a', what]]);
    });

    it('does not move the last seen zxid back', () => {
      driver.zxid.writeBigInt64BE(9n);
      receive(event(2, '/a'));
      expect(driver.zxid.readBigInt64BE()).toBe(9n);
    });
  });

  describe('as the answer to a ping', () => {
    it('is reported with the send time of the oldest unanswered ping, and proves no quorum', async () => {
      inbound.pinged();
      const first = inbound.oldestPingSentAt;
      await new Promise(setImmediate);
      inbound.pinged();
      expect(inbound.oldestPingSentAt).toBe(first);
      receive(reply(Xid.ping));
      expect(answers).toMatchObject([{ sentAt: first, isQuorum: false }]);
      expect(inbound.oldestPingSentAt).toBeGreaterThan(first ?? Infinity);
      receive(reply(Xid.ping));
      expect(inbound.oldestPingSentAt).toBeUndefined();
    });

    it('is ignored when there was no ping', () => {
      receive(reply(Xid.ping));
      expect([answers, unreadable]).toEqual([[], []]);
    });
  });

  describe('as the answer to credentials', () => {
    it('is reported with the last of them', () => {
      inbound.unconfirmedAuths = 2;
      receive(reply(Xid.auth));
      expect(authenticated).not.toHaveBeenCalled();
      receive(reply(Xid.auth));
      expect(authenticated).toHaveBeenCalledOnce();
      expect(inbound.unconfirmedAuths).toBe(0);
      expect(setState).not.toHaveBeenCalled();
    });

    it('ends the session when they were refused', () => {
      inbound.unconfirmedAuths = 1;
      receive(reply(Xid.auth, { error: ErrorCode.authFailed }));
      expect(setState.mock.calls).toEqual([[DriverState.authFailed]]);
      expect(authenticated).not.toHaveBeenCalled();
    });
  });

  describe('as the reply to a handshake', () => {
    const accepted = framed(Buffer.from('0000000000000fa0', 'hex'));

    it.each([1, 4, 7])('is passed to the driver in one piece, however it was cut: at %i', (place) => {
      driver.state = DriverState.connecting;
      driver.pendingBuffer = Buffer.from('the rest of another connection');
      receive(accepted.subarray(0, place));
      expect(handshake).not.toHaveBeenCalled();
      receive(accepted.subarray(place));
      expect(handshake.mock.calls).toEqual([[accepted]]);
      expect(driver.pendingBuffer).toBeNull();
    });

    it('is followed by messages in the same chunk', async () => {
      driver.state = DriverState.connecting;
      handshake.mockImplementation(() => {
        driver.state = DriverState.connected;
      });
      const request = sent(1);
      receive(Buffer.concat([accepted, reply(1, { zxid: 3n })]));
      await expect(request.reply).resolves.toMatchObject({ zxid: 3n });
      expect(handshake).toHaveBeenCalledOnce();
    });
  });

  describe('on the next connection', () => {
    it('is not mixed with an incomplete frame of the last connection', async () => {
      const request = sent(1);
      receive(reply(1).subarray(0, 10));
      inbound.pinged();
      inbound.reset();
      expect(inbound.oldestPingSentAt).toBeUndefined();
      receive(reply(1, { zxid: 8n }));
      await expect(request.reply).resolves.toMatchObject({ zxid: 8n });
    });
  });

  describe('as something else', () => {
    it.each([
      ['a frame of an impossible length', Buffer.from('ffffffff', 'hex')],
      ['a frame that is no header', framed(Buffer.from('00', 'hex'))],
      ['an event without a path', reply(Xid.notification)],
    ])('is reported and not thrown: %s', (_what, chunk) => {
      expect(() => receive(chunk)).not.toThrow();
      expect(unreadable).toMatchObject([expect.any(RangeError)]);
    });
  });
});
