import fc from 'fast-check';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { GroupedWrite, Outbox } from '../../../../lib/zookeeper/client/outbox.js';
import { PendingRequest } from '../../../../lib/zookeeper/client/pending-request.js';
import { ErrorCode, CreateMode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteReader } from '../../../../lib/zookeeper/wire/jute.js';
import { pathWatchRecord } from '../../../../lib/zookeeper/wire/records.js';
import { answer, answerAlone, answerMulti, FRAME_HEADER_BYTES, opsOf } from './answered.js';

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
const create = (directory: string, name = 'lock-', data = Buffer.alloc(0)) =>
  quiet(new GroupedWrite({ path: `${directory}/${name}`, data, acl: [], mode: CreateMode.ephemeralSequential }));
const remove = (path: string) => quiet(new GroupedWrite(path));
const list = (path: string) => new PendingRequest(OpCode.getChildren2, pathWatchRecord(path, false), path, () => {});
const settled = (writes: readonly GroupedWrite[]) => Promise.allSettled(writes.map(({ done }) => done.promise));

/** Marks the rejection as handled: a test may no longer await it. */
function quiet(write: GroupedWrite): GroupedWrite {
  write.done.promise.catch(() => {});
  return write;
}

const newOutbox = () => new Outbox((requests) => void sent.push([...requests]));

let sent: PendingRequest[][];
let outbox: Outbox;
let zxid: bigint;

beforeEach(() => {
  sent = [];
  zxid = 0n;
  outbox = newOutbox();
});

const all = () => sent.flat();
const asked = () => all().map((request) => opsOf(request).map(({ type, path }) => `${type} ${path}`));
const last = () => sent.at(-1)?.at(-1) ?? expect.unreachable('nothing was sent');

/** Answers all requests sent since the last call. */
async function answerAll(): Promise<void> {
  while (sent.length > 0) {
    for (const request of sent.splice(0).flat()) {
      if (request.header.type === OpCode.multi) answerMulti(request, ++zxid);
      else answerAlone(request, ++zxid);
    }
    await turn();
  }
}

/** Makes these directories known to the outbox by creating a znode in each. */
async function known(...directories: string[]): Promise<void> {
  for (const directory of directories) {
    const write = create(directory);
    void outbox.join(write);
    outbox.flush();
    await answerAll();
    await write.done.promise;
  }
  sent = [];
}

async function sendTogether(...writes: GroupedWrite[]): Promise<void> {
  writes.forEach((write) => void outbox.join(write));
  await turn();
}

describe('the requests of one turn', () => {
  it('are sent at its end in one write: first creates and deletes, then the others', async () => {
    void outbox.add(list('/a'));
    void outbox.join(create('/a'));
    void outbox.add(list('/b'));
    void outbox.join(remove('/b/x'));
    expect(sent).toEqual([]);
    await turn();
    expect(sent).toHaveLength(1);
    const types = all().map(({ header }) => header.type);
    expect(types.slice(-2)).toEqual([OpCode.getChildren2, OpCode.getChildren2]);
    expect(types.slice(0, -2).every((type) => type !== OpCode.getChildren2)).toBe(true);
    expect(asked().flat().slice(-2)).toEqual([`${OpCode.getChildren2} /a`, `${OpCode.getChildren2} /b`]);
    expect(asked().flat()).toHaveLength(4);
  });

  it('include those of callbacks of already settled promises', async () => {
    void outbox.add(list('/a'));
    void Promise.resolve().then(() => outbox.add(list('/b')));
    await turn();
    expect(sent.map((requests) => requests.length)).toEqual([2]);
  });

  it('are not sent again in the next turn', async () => {
    void outbox.add(list('/a'));
    await turn();
    void outbox.add(list('/b'));
    await turn();
    expect(sent.map((requests) => requests.length)).toEqual([1, 1]);
  });

  it('can be sent before its end, and only once', async () => {
    void outbox.add(list('/a'));
    outbox.flush();
    expect(sent).toHaveLength(1);
    await turn();
    expect(sent).toHaveLength(1);
  });

  describe('for data watches', () => {
    const asked = () =>
      all().map((request) => {
        const reader = new JuteReader(request.toBuffer(), FRAME_HEADER_BYTES);
        return { type: request.header.type, since: reader.long(), paths: reader.vector(() => reader.string()) };
      });

    it('are one request in a turn, relative to the earliest zxid', async () => {
      const set = [outbox.watch('/a'), outbox.watch('/b', 7n), outbox.watch('/c', 8n)];
      outbox.flush();
      expect(asked()).toEqual([{ type: OpCode.setWatches, since: 7n, paths: ['/a', '/b', '/c'] }]);
      answer(last(), ++zxid);
      await expect(Promise.all(set)).resolves.toHaveLength(3);
    });

    it('are relative to no zxid if none is given', async () => {
      const set = [outbox.watch('/a')];
      outbox.flush();
      set.push(outbox.watch('/b'));
      outbox.flush();
      expect(asked().map(({ since, paths }) => [since, ...paths])).toEqual([
        [2n ** 63n - 1n, '/a'],
        [2n ** 63n - 1n, '/b'],
      ]);
      all().forEach((request) => answer(request, ++zxid));
      await Promise.all(set);
    });

    it('are several requests where one would be too large', async () => {
      const path = (number: number) => `/${'x'.repeat(500)}/${number}`;
      const set = Array.from({ length: 1_000 }, (_, number) => outbox.watch(path(number)));
      outbox.flush();
      expect(asked().length).toBeGreaterThan(1);
      expect(asked().flatMap(({ paths }) => paths)).toEqual(set.map((_, number) => path(number)));
      all().forEach((request) => answer(request, ++zxid));
      await Promise.all(set);
    });

    it('all reject with the error of their request', async () => {
      const set = [outbox.watch('/a'), outbox.watch('/b')];
      outbox.flush();
      last().fail(ErrorCode.connectionLoss);
      const outcomes = await Promise.allSettled(set);
      expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    });
  });

  it('are shared where all callers may use one answer, and repeated in the next turn', async () => {
    const ask = vi.fn<() => Promise<string>>(async () => 'names');
    void outbox.add(list('/other'));
    const [one, same, other] = [outbox.shared('/a', ask), outbox.shared('/a', ask), outbox.shared('/b', ask)];
    expect(same).toBe(one);
    expect(other).not.toBe(one);
    await turn();
    expect(outbox.shared('/a', ask)).not.toBe(one);
    expect(ask).toHaveBeenCalledTimes(3);
  });
});

describe('a create with its directory', () => {
  const first = (directory: string) => {
    const parent = { type: 'createContainer', path: directory, data: Buffer.alloc(0), acl: [], flags: 4 } as const;
    const what = { path: `${directory}/lock-`, data: Buffer.alloc(0), acl: [], mode: CreateMode.ephemeralSequential };
    return quiet(new GroupedWrite(what, parent));
  };
  const both = (directory: string) => [`${OpCode.createContainer} ${directory}`, `${OpCode.create} ${directory}/lock-`];

  it('is one transaction when it is alone, and its directory is known afterwards', async () => {
    const write = first('/a');
    expect(outbox.directories.knows('/a')).toBe(false);
    void outbox.join(write);
    outbox.flush();
    expect(asked()).toEqual([both('/a')]);
    answerMulti(last(), ++zxid);
    await expect(write.done.promise).resolves.toMatchObject({ czxid: zxid });
    await turn();
    expect(outbox.directories.knows('/a')).toBe(true);
    outbox.directories.forget('/a');
    expect(outbox.directories.knows('/a')).toBe(false);
  });

  it('shares a transaction with others of its kind, and not with those in known directories', async () => {
    await known('/k');
    const writes = [first('/a'), create('/k'), first('/b'), remove('/x')];
    await sendTogether(...writes);
    expect(asked()).toEqual([
      [`${OpCode.create} /k/lock-`, `${OpCode.delete} /x`],
      [...both('/a'), ...both('/b')],
    ]);
    await answerAll();
    const outcomes = await settled(writes);
    expect(outcomes.map(({ status }) => status)).toEqual(writes.map(() => 'fulfilled'));
    expect(outbox.directories.knows('/b')).toBe(true);
  });

  it('rejects with the path of the directory if that exists', async () => {
    const write = first('/a');
    void outbox.join(write);
    outbox.flush();
    answerMulti(last(), ++zxid, { place: 0, error: ErrorCode.nodeExists });
    await expect(write.done.promise).rejects.toMatchObject({ code: ErrorCode.nodeExists, path: '/a' });
  });
});

describe('a single create or delete', () => {
  it('is sent as a plain request when it is alone', async () => {
    await known('/a');
    const write = create('/a');
    await sendTogether(write);
    expect(all().map(({ header }) => header.type)).toEqual([OpCode.create2]);
    answerAlone(last(), 0x77n);
    expect(await write.done.promise).toEqual({ path: '/a/lock-#', czxid: 0x77n });

    sent = [];
    const deletion = remove('/a/x');
    await sendTogether(deletion);
    expect(all().map(({ header }) => header.type)).toEqual([OpCode.delete]);
    answerAlone(last(), 0x78n);
    await deletion.done.promise;
  });

  it('rejects with the error of the servers', async () => {
    const write = create('/a');
    await sendTogether(write);
    last().fail(ErrorCode.noNode);
    await expect(write.done.promise).rejects.toMatchObject({ code: ErrorCode.noNode, path: '/a/lock-' });
  });
});

describe('creates and deletes for different keys', () => {
  it('share one transaction, and each gets its path and the zxid', async () => {
    await known('/a', '/b', '/c');
    const writes = [create('/a'), remove('/x/1'), create('/b'), create('/c'), remove('/x/2')];
    await sendTogether(...writes);
    expect(asked()).toEqual([
      [
        `${OpCode.create} /a/lock-`,
        `${OpCode.delete} /x/1`,
        `${OpCode.create} /b/lock-`,
        `${OpCode.create} /c/lock-`,
        `${OpCode.delete} /x/2`,
      ],
    ]);
    answerMulti(last(), 0x99n);
    const outcomes = await Promise.all(writes.map(({ done }) => done.promise));
    expect(outcomes.map(({ czxid }) => czxid)).toEqual([0x99n, 0x99n, 0x99n, 0x99n, 0x99n]);
    expect(outcomes.map(({ path }) => path)).toEqual(['/a/lock-#', '/x/1', '/b/lock-#', '/c/lock-#', '/x/2']);
  });

  it('are sent alone when the directory is not known to exist', async () => {
    await known('/a');
    await sendTogether(create('/a'), create('/new'), remove('/x/1'));
    expect(asked()).toEqual([[`${OpCode.create2} /new/lock-`], [`${OpCode.create} /a/lock-`, `${OpCode.delete} /x/1`]]);
  });

  it('are sent alone again when the directory turned out to be missing', async () => {
    await known('/a', '/b');
    const write = create('/a');
    await sendTogether(write);
    last().fail(ErrorCode.noNode);
    await settled([write]);
    sent = [];
    await sendTogether(create('/a'), create('/b'));
    expect(asked().map((ops) => ops.length)).toEqual([1, 1]);
  });

  it('never are two in one directory in one transaction: they would share a token', async () => {
    await known('/a', '/b');
    await sendTogether(create('/a', '1'), create('/b', '1'), create('/a', '2'), create('/a', '3'), create('/b', '2'));
    expect(asked()).toEqual([
      [`${OpCode.create} /a/1`, `${OpCode.create} /b/1`],
      [`${OpCode.create} /a/2`, `${OpCode.create} /b/2`],
      [`${OpCode.create2} /a/3`],
    ]);
  });
});

describe('a transaction', () => {
  it('that fails repeats each operation alone, and reports its own result', async () => {
    await known('/a', '/b', '/c');
    const writes = [create('/a'), create('/b'), create('/c')] as const;
    await sendTogether(...writes);
    answerMulti(last(), 5n, { place: 1, error: ErrorCode.noNode });
    sent = [];
    await turn();
    expect(asked()).toEqual(['/a', '/b', '/c'].map((directory) => [`${OpCode.create2} ${directory}/lock-`]));
    all()[1]?.fail(ErrorCode.noNode);
    await expect(writes[1].done.promise).rejects.toMatchObject({ code: ErrorCode.noNode, path: '/b/lock-' });
    sent[0]?.splice(1, 1);
    await answerAll();
    expect((await settled(writes)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);

    // The directory of the failed create is no longer known to exist.
    await sendTogether(create('/a'), create('/b'), create('/c'));
    expect(asked().map((ops) => ops.length)).toEqual([1, 2]);
  });

  it('that fails tells nothing by the error of one, which another caused that was undone', async () => {
    const writes = [remove('/gate'), remove('/gate')];
    const told: string[] = [];
    for (const { done } of writes)
      void done.promise.then(...['gone', 'refused'].map((what) => () => void told.push(what)));
    await sendTogether(...writes);
    answerMulti(last(), 5n, { place: 1, error: ErrorCode.noNode });
    sent = [];
    await turn();
    expect(told).toEqual([]);
    expect(asked()).toEqual([[`${OpCode.delete} /gate`], [`${OpCode.delete} /gate`]]);
    const [one, other] = all();
    if (one) answerAlone(one, 6n);
    other?.fail(ErrorCode.noNode);
    await turn();
    expect(told).toEqual(['gone', 'refused']);
  });

  it('that is refused as a whole is repeated operation by operation', async () => {
    await known('/a', '/b');
    const writes = [create('/a'), create('/b')];
    await sendTogether(...writes);
    last().fail(ErrorCode.throttled);
    sent = [];
    await turn();
    await turn();
    expect(asked()).toEqual([[`${OpCode.create2} /a/lock-`], [`${OpCode.create2} /b/lock-`]]);
    await answerAll();
    expect((await settled(writes)).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
  });

  it('with a lost reply leaves all operations in doubt: each rejects, and none is repeated', async () => {
    await known('/a', '/b');
    const writes = [create('/a'), create('/b'), remove('/x/1')];
    await sendTogether(...writes);
    last().fail(ErrorCode.connectionLoss);
    sent = [];
    for (const { done } of writes) {
      await expect(done.promise).rejects.toMatchObject({ code: ErrorCode.connectionLoss });
    }
    await turn();
    expect(sent).toEqual([]);
  });

  it('has at most 128 operations', async () => {
    const directories = Array.from({ length: 300 }, (_, number) => `/${number}`);
    await known(...directories);
    await sendTogether(...directories.map((directory) => create(directory)));
    expect(asked().map((ops) => ops.length)).toEqual([128, 128, 44]);
  });

  it('has at most 128 KB', async () => {
    const directories = Array.from({ length: 10 }, (_, number) => `/${number}`);
    await known(...directories);
    await sendTogether(...directories.map((directory) => create(directory, 'x', Buffer.alloc(40 * 1024))));
    expect(asked().map((ops) => ops.length)).toEqual([3, 3, 3, 1]);
    for (const request of all()) expect(request.toBuffer().length).toBeLessThan(128 * 1024);
  });
});

describe('all writes of one turn', () => {
  it('is sent exactly once, in order in each directory, in transactions that keep the rules', async () => {
    const write = fc.record({
      directory: fc.nat({ max: 6 }),
      isDelete: fc.boolean(),
      kilobytes: fc.constantFrom(0, 0, 0, 30, 90),
    });
    const property = fc.asyncProperty(
      fc.array(write, { maxLength: 60 }),
      fc.uniqueArray(fc.nat({ max: 6 })),
      fc.option(fc.nat({ max: 5 }), { nil: undefined }),
      async (wanted, knownBefore, failing) => {
        outbox = newOutbox();
        await known(...knownBefore.map((number) => `/${number}`));
        const writes = wanted.map(({ directory, isDelete, kilobytes }, number) =>
          isDelete
            ? remove(`/${directory}/${number}`)
            : create(`/${directory}`, `${number}-`, Buffer.alloc(kilobytes * 1024)),
        );
        await sendTogether(...writes);
        expect(sent.length).toBeLessThanOrEqual(1);
        const requests = all();
        const ops = requests.map(opsOf);
        checkRules(ops, requests, new Set(knownBefore.map((number) => `/${number}`)));
        expect(
          ops
            .flat()
            .map(({ path }) => path)
            .toSorted(),
        ).toEqual(writes.map(({ op }) => op.path).toSorted());
        checkOrder(
          ops
            .flat()
            .filter(({ type }) => type !== OpCode.delete)
            .map(({ path }) => path),
        );

        const multis = requests.filter(({ header }) => header.type === OpCode.multi);
        sent = [];
        for (const request of requests) {
          if (request === multis[failing ?? -1]) answerMulti(request, ++zxid, { place: 0, error: ErrorCode.noNode });
          else if (multis.includes(request)) answerMulti(request, ++zxid);
          else answerAlone(request, ++zxid);
        }
        await turn();
        await answerAll();
        const outcomes = await settled(writes);
        expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
        checkTokens(
          outcomes.flatMap((outcome, place) => {
            const { directory, op } = writes[place] ?? expect.unreachable();
            return outcome.status === 'fulfilled' && op.type === 'create'
              ? [`${directory} ${outcome.value.czxid}`]
              : [];
          }),
        );
      },
    );
    await fc.assert(property, { numRuns: 200 });
  });
});

const directoryOf = (path: string) => path.slice(0, path.lastIndexOf('/'));

function checkRules(
  groups: readonly (readonly { readonly type: number; readonly path: string }[])[],
  requests: readonly PendingRequest[],
  knownBefore: ReadonlySet<string>,
): void {
  for (const [place, group] of groups.entries()) {
    expect(group.length).toBeLessThanOrEqual(128);
    const creates = group.filter(({ type }) => type !== OpCode.delete).map(({ path }) => directoryOf(path));
    expect(new Set(creates).size, 'one create a directory').toBe(creates.length);
    if (group.length === 1) {
      expect(requests[place]?.header.type, 'a lone one is plain').not.toBe(OpCode.multi);
      continue;
    }
    expect(requests[place]?.toBuffer().length).toBeLessThan(129 * 1024);
    expect(
      creates.filter((directory) => !knownBefore.has(directory)),
      'only known directories',
    ).toEqual([]);
  }
}

/** Checks the order of the creates of each directory. The names contain the order of the calls. */
function checkOrder(paths: readonly string[]): void {
  for (const directory of new Set(paths.map(directoryOf))) {
    const numbers = paths
      .filter((path) => directoryOf(path) === directory)
      .map((path) => Number.parseInt(path.slice(directory.length + 1), 10));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  }
}

function checkTokens(tokens: readonly string[]): void {
  expect(new Set(tokens).size, 'no token twice in a directory').toBe(tokens.length);
}
