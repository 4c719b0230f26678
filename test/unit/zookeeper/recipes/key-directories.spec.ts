import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyDirectoriesOf } from '../../../../lib/zookeeper/recipes/key-directories.js';
import { REMOVABLE } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import type { MultiOp, Stat } from '../../../../lib/zookeeper/session/requests.js';

// The clock of leases is real under fake timers; this one must follow them.
vi.mock(import('../../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

const IDLE_MS = 4_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/**
 * A session with the transactions that it was asked for, and the directories that it was told to forget. Directories in
 * `occupied` have children, those in `plain` are not of this library, and those in `missing` do not exist.
 */
function startSession(known: readonly string[] = []) {
  const [sent, forgotten, controller] = [[] as string[][], [] as string[], new AbortController()];
  const [occupied, plain, missing] = [new Set<string>(), new Set<string>(), new Set<string>()];
  let losesReplies = false;
  const multi = async (ops: readonly MultiOp[]) => {
    sent.push(ops.map(({ type, path }) => `${type} ${path}`));
    if (losesReplies) throw new KeeperError(ErrorCode.connectionLoss);
    const refused = ops.findIndex(({ path }) => occupied.has(path));
    const errorAt = (place: number) => (place === refused ? ErrorCode.notEmpty : ErrorCode.runtimeInconsistency);
    return { results: ops.map((_, place) => ({ error: refused < 0 ? 0 : errorAt(place) })), zxid: 1n };
  };
  const read = async (path: string) => {
    if (missing.has(path)) throw new KeeperError(ErrorCode.noNode);
    const stat = { numChildren: occupied.has(path) ? 1 : 0 };
    return { data: plain.has(path) ? Buffer.alloc(0) : REMOVABLE, stat: stat as Stat };
  };
  const requests = {
    multi,
    read,
    knows: (path: string) => known.includes(path),
    forget: (path: string) => void forgotten.push(path),
  };
  return {
    session: { requests, signal: controller.signal },
    sent,
    forgotten,
    occupied,
    plain,
    missing,
    loseReplies: (isSo: boolean) => void (losesReplies = isSo),
    end: () => controller.abort(),
  };
}

describe('the directories that a session has created', () => {
  it('are removed together when they were not used for a while', async () => {
    const { session, sent } = startSession();
    for (const path of ['/a', '/b']) keyDirectoriesOf(session).made(path);
    for (const path of ['/a', '/b']) keyDirectoriesOf(session).leave(path);
    await vi.advanceTimersByTimeAsync(2_500);
    expect(sent).toEqual([]);
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect(sent).toEqual([['delete /a', 'delete /b']]);
    await vi.advanceTimersByTimeAsync(10 * IDLE_MS);
    expect(sent).toHaveLength(1);
  });

  it('stay while they are used', async () => {
    const { session, sent } = startSession();
    keyDirectoriesOf(session).made('/a');
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    keyDirectoriesOf(session).leave('/a');
    await vi.advanceTimersByTimeAsync(IDLE_MS / 2);
    keyDirectoriesOf(session).use('/a');
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(sent).toEqual([]);
    keyDirectoriesOf(session).leave('/a');
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect(sent).toEqual([['delete /a']]);
  });

  it('are removed one by one if one has children, and that one later', async () => {
    const { session, sent, occupied } = startSession();
    occupied.add('/b');
    for (const path of ['/a', '/b']) keyDirectoriesOf(session).made(path);
    for (const path of ['/a', '/b']) keyDirectoriesOf(session).leave(path);
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect(sent.splice(0)).toEqual([['delete /a', 'delete /b'], ['delete /a'], ['delete /b']]);
    occupied.clear();
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect(sent).toEqual([['delete /b']]);
  });

  it('are left to the servers when others keep using them', async () => {
    const { session, sent, occupied } = startSession();
    occupied.add('/a');
    keyDirectoriesOf(session).made('/a');
    keyDirectoriesOf(session).leave('/a');
    await vi.advanceTimersByTimeAsync(100 * IDLE_MS);
    expect(sent).toHaveLength(5);
  });

  it('are tried again when it is not known whether they were removed', async () => {
    const { session, sent, loseReplies } = startSession();
    keyDirectoriesOf(session).made('/a');
    keyDirectoriesOf(session).leave('/a');
    loseReplies(true);
    await vi.advanceTimersByTimeAsync(IDLE_MS);
    expect(sent).toEqual([['delete /a']]);
    loseReplies(false);
    await vi.advanceTimersByTimeAsync(10 * IDLE_MS);
    expect(sent).toEqual([['delete /a'], ['delete /a']]);
  });

  it('are removed at once before the session is closed', async () => {
    const { session, sent } = startSession();
    for (const path of ['/a', '/b', '/c']) keyDirectoriesOf(session).made(path);
    for (const path of ['/a', '/b']) keyDirectoriesOf(session).leave(path);
    await keyDirectoriesOf(session).close();
    expect(sent).toEqual([['delete /a', 'delete /b']]);
  });

  it('are forgotten with the session', async () => {
    const { session, sent, end } = startSession();
    end();
    keyDirectoriesOf(session).made('/a');
    keyDirectoriesOf(session).leave('/a');
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect([sent, vi.getTimerCount()]).toEqual([[], 0]);
  });
});

describe('the directories of other clients', () => {
  const used = (session: ReturnType<typeof startSession>['session'], ...paths: string[]) => {
    for (const path of paths) keyDirectoriesOf(session).use(path);
    for (const path of paths) keyDirectoriesOf(session).leave(path);
  };

  it('are removed when they are containers that nobody is in', async () => {
    const { session, sent, occupied, plain } = startSession();
    occupied.add('/b');
    plain.add('/c');
    used(session, '/a', '/b', '/c', '/d');
    await vi.advanceTimersByTimeAsync(10 * IDLE_MS);
    expect(sent).toEqual([['delete /a', 'delete /d']]);
  });

  it('stay while they are used', async () => {
    const { session, sent } = startSession();
    used(session, '/a');
    await vi.advanceTimersByTimeAsync(IDLE_MS / 2);
    keyDirectoriesOf(session).use('/a');
    await vi.advanceTimersByTimeAsync(10 * IDLE_MS);
    expect(sent).toEqual([]);
  });

  it('are forgotten when they are gone, so that the next use takes them for new', async () => {
    const { session, sent, forgotten, missing } = startSession();
    missing.add('/a');
    used(session, '/a');
    await vi.advanceTimersByTimeAsync(10 * IDLE_MS);
    expect([sent, forgotten]).toEqual([[], ['/a']]);
  });
});

describe('the parents of removed directories', () => {
  const useOnce = (session: ReturnType<typeof startSession>['session'], ...paths: string[]) => {
    for (const path of paths) keyDirectoriesOf(session).made(path);
    for (const path of paths) keyDirectoriesOf(session).leave(path);
  };

  it('stay for a minute, because they are mostly used again', async () => {
    const { session, sent } = startSession();
    useOnce(session, '/order/1');
    await vi.advanceTimersByTimeAsync(30_000);
    expect(sent.splice(0)).toEqual([['delete /order/1']]);
    useOnce(session, '/order/2');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sent.splice(0)).toEqual([['delete /order/2']]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(sent).toEqual([['delete /order']]);
  });

  it('are removed sooner when there are many, up to the newest hundred', async () => {
    const { session, sent } = startSession();
    useOnce(session, ...Array.from({ length: 350 }, (_, number) => `/${number}/lock`));
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    const removed = sent.flat();
    expect(removed.filter((what) => what.endsWith('/lock'))).toHaveLength(350);
    expect(removed.filter((what) => !what.endsWith('/lock'))).toHaveLength(250);
  });
});

describe('a directory', () => {
  it('is probably new when this process has not seen it', () => {
    const guesses = keyDirectoriesOf(startSession(['/seen']).session);
    expect([guesses.mayBeNew('/seen'), guesses.mayBeNew('/other')]).toEqual([false, true]);
  });

  it('is not guessed to be new for a while after three wrong guesses in a row', () => {
    const guesses = keyDirectoriesOf(startSession().session);
    [false, false, true, false, false].forEach((isNew) => guesses.guessed(isNew));
    expect(guesses.mayBeNew('/a')).toBe(true);
    guesses.guessed(false);
    const answers = Array.from({ length: 101 }, () => guesses.mayBeNew('/a'));
    expect(answers.indexOf(true)).toBe(100);
  });
});
