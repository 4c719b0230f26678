import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { BackendSessions } from '../../../lib/sessions/backend-sessions.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Sessions whose servers come and go when the test says so. */
class TestSessions extends BackendSessions<string> {
  override readonly lastError = undefined;

  constructor() {
    super('test', 1_000);
  }

  serve(session: string): void {
    this.serves(session);
  }

  goDown(): void {
    this.disconnected();
  }

  protected override start(): void {}
}

let sessions: TestSessions;

beforeEach(() => {
  vi.useFakeTimers();
  sessions = new TestSessions();
});

afterEach(() => void vi.useRealTimers());

it('a caller gets the session that is connected, and waits for the next one otherwise', async () => {
  sessions.serve('first');
  expect(await sessions.session()).toBe('first');
  sessions.goDown();
  const waiting = sessions.session();
  sessions.serve('second');
  expect(await waiting).toBe('second');
  expect(vi.getTimerCount()).toBe(0);
});

it('a caller that gives up leaves no timer', async () => {
  const leaving = new AbortController();
  const waiting = sessions.session(leaving.signal);
  leaving.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  expect(vi.getTimerCount()).toBe(0);
});

it('a caller that no server has answered in time is forgotten before one does', async () => {
  const refused = sessions.session().then(
    () => undefined,
    (error: object) => new WeakRef(error),
  );
  await vi.advanceTimersByTimeAsync(1_000);
  const error = await refused;
  vi.useRealTimers();
  // A WeakRef is not cleared in the turn in which it was created or read.
  await new Promise(setImmediate);
  collectGarbage();
  expect(error).toBeInstanceOf(WeakRef);
  expect(error?.deref()).toBeUndefined();
});
