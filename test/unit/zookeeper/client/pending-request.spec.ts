import { describe, expect, it } from 'vitest';
import { now } from '../../../../lib/async/clock.js';
import { DriverState } from '../../../../lib/zookeeper/client/driver.js';
import { KeeperError } from '../../../../lib/zookeeper/client/keeper-error.js';
import { PendingRequest, pendingRequestOf, RequestQueue } from '../../../../lib/zookeeper/client/pending-request.js';
import { ErrorCode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteWriter } from '../../../../lib/zookeeper/wire/jute.js';

const request = (type: number = OpCode.create2, body: Buffer = Buffer.alloc(0)) =>
  new PendingRequest(type, body, '/locks/a', (whole) => whole);

describe('a pending request', () => {
  it('is framed with the request number at the time its bytes are read', () => {
    const pending = request(OpCode.delete, Buffer.from([0xaa, 0xbb]));
    pending.header.xid = 258;
    expect(pending.toBuffer().toString('hex')).toBe('0000000a' + '00000102' + '00000002' + 'aabb');
  });

  it('counts as sent when its bytes are read, and not before', () => {
    const pending = request();
    expect(pending.sentAt).toBeUndefined();
    const before = now();
    pending.toBuffer();
    expect(pending.sentAt).toBeGreaterThanOrEqual(before);
    expect(pending.sentAt).toBeLessThanOrEqual(now());
  });

  it('resolves with the zxid and with the body behind the reply’s header', async () => {
    const pending = request();
    const header = { xid: 1, zxid: 77n, error: 0 };
    pending.answer(header, new JuteWriter().int(1).long(77n).int(0).string('/locks/a').toBuffer());
    const { zxid, body } = await pending.reply;
    expect(zxid).toBe(77n);
    expect(body.string()).toBe('/locks/a');
  });

  it('resolves with the parsed reply, and rejects when that cannot be read', async () => {
    const [read, unreadable] = [1, 2].map(
      () => new PendingRequest(OpCode.getData, Buffer.alloc(0), '/locks/a', ({ body }) => body.string()),
    ) as [PendingRequest<string>, PendingRequest<string>];
    const header = { xid: 1, zxid: 77n, error: 0 };
    const head = () => new JuteWriter().int(1).long(77n).int(0);
    read.answer(header, head().string('/locks/b').toBuffer());
    unreadable.answer(header, head().int(1_000).toBuffer());
    expect(await read.reply).toBe('/locks/b');
    await expect(unreadable.reply).rejects.toBeInstanceOf(RangeError);
  });

  it('rejects with the server’s error, which names the path', async () => {
    const pending = request();
    pending.answer({ xid: 1, zxid: 77n, error: ErrorCode.noNode }, Buffer.alloc(16));
    await expect(pending.reply).rejects.toBeInstanceOf(KeeperError);
    await expect(pending.reply).rejects.toMatchObject({ code: -101, path: '/locks/a' });
  });

  it('fails once, and is not answered afterwards', async () => {
    const answers: unknown[] = [];
    const pending = new PendingRequest(OpCode.delete, Buffer.alloc(0), '/a', (answer) => void answers.push(answer));
    pending.fail(ErrorCode.connectionLoss);
    pending.answer({ xid: 1, zxid: 77n, error: 0 }, Buffer.alloc(16));
    expect(answers).toEqual([]);
    await expect(pending.reply).rejects.toMatchObject({ code: ErrorCode.connectionLoss, isConnectionLoss: true });
  });
});

describe('the requests of one turn', () => {
  it('are sent up to the servers’ size limit, and refused beyond it', async () => {
    const sent: unknown[] = [];
    const driver = { state: DriverState.connected, xid: 1, queue: (packet: unknown) => void sent.push(packet) };
    const queue = new RequestQueue(driver as never);
    const requests = [0, 1].map((more) => request(OpCode.multi, Buffer.alloc(1_048_575 - 8 + more)));
    queue.send(requests);
    expect(sent).toEqual([requests[0]]);
    await expect(requests[1]?.reply).rejects.toMatchObject({ name: 'RequestTooLargeError', bytes: 1_048_576 });
  });
});

describe('an answer that proves a quorum', () => {
  const WRITES = [
    OpCode.create,
    OpCode.create2,
    OpCode.createContainer,
    OpCode.delete,
    OpCode.multi,
    OpCode.closeSession,
  ];
  const READS = [OpCode.getData, OpCode.getChildren2, OpCode.sync, OpCode.removeWatches, OpCode.setWatches];
  const DECIDED = [
    ErrorCode.ok,
    ErrorCode.noNode,
    ErrorCode.nodeExists,
    ErrorCode.notEmpty,
    ErrorCode.badVersion,
  ] as const;
  const UNDECIDED = [
    ErrorCode.connectionLoss,
    ErrorCode.sessionExpired,
    ErrorCode.sessionMoved,
    ErrorCode.throttled,
    ErrorCode.noAuth,
    ErrorCode.unimplemented,
    ErrorCode.badArguments,
    -9_999,
  ];

  it.each(WRITES)('includes a transaction (%i) that was applied, or refused for the state of the tree', (type) => {
    expect(DECIDED.filter((error) => !request(type).isQuorumAnswer(error))).toEqual([]);
  });

  it.each(WRITES)('excludes a transaction (%i) that was turned away', (type) => {
    expect(UNDECIDED.filter((error) => request(type).isQuorumAnswer(error))).toEqual([]);
  });

  it.each(READS)('excludes a request that a follower answers alone (%i)', (type) => {
    expect([...DECIDED, ...UNDECIDED].filter((error) => request(type).isQuorumAnswer(error))).toEqual([]);
  });
});

describe('pendingRequestOf', () => {
  const callback = () => {};

  it('returns the request of a packet', () => {
    const pending = request();
    expect(pendingRequestOf({ request: pending, callback })).toBe(pending);
  });

  it('returns undefined for a packet of the driver itself, and for no packet', () => {
    const foreign = { header: { type: 100, xid: -4 }, payload: null, toBuffer: () => Buffer.alloc(0) };
    expect(pendingRequestOf({ request: foreign, callback })).toBeUndefined();
    expect(pendingRequestOf(undefined)).toBeUndefined();
  });
});
