import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { keyDirectoriesOf } from '../../../../lib/zookeeper/recipes/key-directories.js';
import { ErrorCode } from '../../../../lib/zookeeper/session/requests.js';
import type { MultiOp } from '../../../../lib/zookeeper/session/requests.js';

// The clock of leases is real under fake timers; this one must follow them.
vi.mock(import('../../../../lib/async/clock.js'), () => ({ now: () => Date.now() }));

const IDLE_MS = 4_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** A session with the transactions that it was asked for. Directories in `occupied` have children. */
function startSession(known: readonly string[] = []) {
  const [sent, occupied, controller] = [[] as string[][], new Set<string>(), new AbortController()];
  const multi = async (ops: readonly MultiOp[]) => {
    sent.push(ops.map(({ type, path }) => `${type} ${path}`));
    const refused = ops.findIndex(({ path }) => occupied.has(path));
    const errorAt = (place: number) => (place === refused ? ErrorCode.notEmpty : ErrorCode.runtimeInconsistency);
    return { results: ops.map((_, place) => ({ error: refused < 0 ? 0 : errorAt(place) })), zxid: 1n };
  };
  return {
    session: { requests: { multi, knows: (path: string) => known.includes(path) }, signal: controller.signal },
    sent,
    occupied,
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

  it('are not removed when another client has created them', async () => {
    const { session, sent } = startSession();
    keyDirectoriesOf(session).use('/a');
    keyDirectoriesOf(session).leave('/a');
    await vi.advanceTimersByTimeAsync(2 * IDLE_MS);
    expect(sent).toEqual([]);
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

describe('a directory', () => {
  it('is probably new when this process has not seen it', () => {
    const guesses = keyDirectoriesOf(startSession(['/seen']).session);
    expect([guesses.mayBeNew('/seen'), guesses.mayBeNew('/other')]).toEqual([false, true]);
  });

  it('is not guessed to be new for a while after three wrong guesses in a row', () => {
    const guesses = keyDirectoriesOf(startSession().session);
    [false, false, true, false, false].forEach((isNew) => guesses.was(isNew));
    expect(guesses.mayBeNew('/a')).toBe(true);
    guesses.was(false);
    const answers = Array.from({ length: 101 }, () => guesses.mayBeNew('/a'));
    expect(answers.indexOf(true)).toBe(100);
  });
});
