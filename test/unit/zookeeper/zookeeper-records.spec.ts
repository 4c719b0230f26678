import { describe, expect, it } from 'vitest';
import { NEVER } from '../../../lib/async/abort.js';
import { ErrorCode, KeeperError, SessionEndedError } from '../../../lib/zookeeper/session/requests.js';
import type { Requests } from '../../../lib/zookeeper/session/requests.js';
import { ZooKeeperRecords } from '../../../lib/zookeeper/zookeeper-records.js';

/** A session that records the requests. Each read fails with `read`, or finds nothing. */
function session(name: string, asked: string[], read: () => unknown = () => new KeeperError(ErrorCode.noNode)) {
  const note = (what: string) => void asked.push(`${name} ${what}`);
  const requests = {
    sync: async (path: string) => note(`sync ${path}`),
    read: async (path: string) => {
      note(`read ${path}`);
      throw read();
    },
  };
  return {
    requests: requests as unknown as Requests,
    whenConnected: async () => {},
    persistently: <T>(request: () => Promise<T>) => request(),
  };
}

function recordsOn(sessions: ReturnType<typeof session>[]) {
  const [last] = sessions.slice(-1);
  const supervisor = {
    connected: undefined,
    inTime: <T>(work: (signal: AbortSignal) => Promise<T>) => work(NEVER),
    session: async () => (sessions.length > 1 ? sessions.shift()! : last!),
  };
  return new ZooKeeperRecords(supervisor, { acl: [], basePath: '/b', connect: { servers: [], chroot: '/c' } });
}

describe('records of ZooKeeper', () => {
  it('are read from a session only when its server has caught up with what others have seen', async () => {
    const asked: string[] = [];
    const records = recordsOn([
      session('first', asked, () => new SessionEndedError('expired')),
      session('next', asked),
    ]);
    expect(await records.read('a')).toBeUndefined();
    expect(await records.read('b')).toBeUndefined();
    expect(asked).toEqual([
      'first sync /',
      'first read /c/b/%records/a',
      'next sync /',
      'next read /c/b/%records/a',
      'next read /c/b/%records/b',
    ]);
  });

  it('report a refusal with the name of the record', async () => {
    const records = recordsOn([session('only', [], () => new KeeperError(ErrorCode.quotaExceeded))]);
    await expect(records.read('a/b')).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE', key: 'a/b' });
  });

  it('are refused for invalid names before any request', async () => {
    const asked: string[] = [];
    const records = recordsOn([session('only', asked)]);
    for (const name of ['', '/a', 'a//b']) {
      await expect(records.read(name)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
      await expect(records.list(name)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
      await expect(records.write([{ name, value: '' }])).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    }
    expect(asked).toEqual([]);
  });
});
