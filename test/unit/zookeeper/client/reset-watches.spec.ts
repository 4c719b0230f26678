import { beforeEach, describe, expect, it } from 'vitest';
import type { PendingRequest } from '../../../../lib/zookeeper/client/pending-request.js';
import { resetWatches, WatchTables } from '../../../../lib/zookeeper/client/watch-table.js';
import { ErrorCode, OpCode } from '../../../../lib/zookeeper/wire/codes.js';
import { JuteReader } from '../../../../lib/zookeeper/wire/jute.js';

const FRAME_HEADER_BYTES = 12;

describe('the watches on a new connection', () => {
  let sent: PendingRequest[];
  let tables: WatchTables;
  let told: string[];

  beforeEach(() => {
    sent = [];
    told = [];
    tables = new WatchTables();
  });

  const reset = () =>
    resetWatches(tables, 0x55n, (request) => {
      sent.push(request);
      return request.reply;
    });
  const watch = (kind: 'data' | 'children', path: string) =>
    tables[kind].add(path, { happened: (event) => void told.push(`${kind} ${path} ${event}`) });
  const asked = () =>
    sent.map((request) => {
      const reader = new JuteReader(request.toBuffer(), FRAME_HEADER_BYTES);
      const zxid = reader.long();
      const [data, exists, children] = [1, 2, 3].map(() => reader.vector(() => reader.string()));
      return { type: request.header.type, zxid, data, exists, children };
    });

  it('are not requested when there are none', () => {
    reset();
    expect(sent).toEqual([]);
  });

  it('are set again with their kinds, relative to the last seen zxid', () => {
    watch('data', '/a');
    watch('data', '/b');
    watch('children', '/c');
    reset();
    const common = { type: OpCode.setWatches, zxid: 0x55n, exists: [] };
    expect(asked()).toEqual([
      { ...common, data: ['/a', '/b'], children: [] },
      { ...common, data: [], children: ['/c'] },
    ]);
    expect(told).toEqual([]);
  });

  it('that are refused notify the affected watchers only', async () => {
    watch('data', '/a');
    watch('children', '/a');
    reset();
    sent[1]?.fail(ErrorCode.noAuth);
    await new Promise(setImmediate);
    expect(told).toEqual(['children /a unknown']);
  });

  it('with a lost request stay for the next connection', async () => {
    watch('data', '/a');
    reset();
    sent[0]?.fail(ErrorCode.connectionLoss);
    await new Promise(setImmediate);
    expect([told, tables.data.paths]).toEqual([[], ['/a']]);
  });
});
