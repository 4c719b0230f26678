import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { LockConfigurationError, LockTimeoutError } from '../../../lib/contract/errors.js';
import { askInSession, BackendSessions, SessionEndedError } from '../../../lib/sessions/backend-sessions.js';

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

  refuse(error: LockConfigurationError): void {
    this.refused(error);
  }

  close(): void {
    this.closed();
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

const FAILURES = {
  canBeginAgain: (error: unknown) => error instanceof SessionEndedError,
  explained: (error: unknown) => error,
};

it('a request that waits begins again on the next session, however long no server answers', async () => {
  const asked: string[] = [];
  const ask = async (session: string) => {
    asked.push(session);
    if (session === 'second') return session;
    sessions.goDown();
    throw new SessionEndedError('no server answered');
  };
  sessions.serve('first');
  const waiting = askInSession(sessions, { key: 'k', wait: true }, ask, FAILURES);
  await vi.advanceTimersByTimeAsync(60_000);
  sessions.serve('second');
  expect(await waiting).toBe('second');
  expect(asked).toEqual(['first', 'second']);
});

it('a wait that goes on has all its time for a session, and a wait that begins has that of any request', async () => {
  const ask = async (session: string) => session;
  const begins = askInSession(sessions, { key: 'k', wait: true }, ask, FAILURES);
  const refused = expect(begins).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  const goesOn = askInSession(sessions, { key: 'k', wait: true, isContinued: true }, ask, FAILURES);
  await vi.advanceTimersByTimeAsync(60_000);
  await refused;
  sessions.serve('next');
  expect(await goesOn).toBe('next');
});

it('a wait that ends without the next session is told of servers, and not of the whole time', async () => {
  const ask = async () => {
    sessions.goDown();
    throw new SessionEndedError('no server answered');
  };
  const leaving = new AbortController();
  sessions.serve('first');
  const waiting = askInSession(sessions, { key: 'k', wait: true, signal: leaving.signal }, ask, FAILURES);
  const refused = waiting.catch((error: Error) => error);
  await vi.advanceTimersByTimeAsync(5_000);
  leaving.abort(new LockTimeoutError('k', 60_000));
  expect(await refused).toMatchObject({ code: 'LOCK_UNAVAILABLE', message: expect.not.stringContaining('60000') });
});

it('a request that does not wait ends in time when its session is over', async () => {
  const ask = async () => {
    sessions.goDown();
    throw new SessionEndedError('no server answered');
  };
  sessions.serve('first');
  const asked = askInSession(sessions, { key: 'k', wait: false }, ask, FAILURES);
  const refused = expect(asked).rejects.toMatchObject({ code: 'LOCK_UNAVAILABLE' });
  await vi.advanceTimersByTimeAsync(1_000);
  await refused;
  expect(vi.getTimerCount()).toBe(0);
});

it.each([
  ['settings are refused', () => sessions.refuse(new LockConfigurationError('wrong')), 'LOCK_CONFIGURATION'],
  ['the connection is closed', () => sessions.close(), 'LOCK_SHUTDOWN'],
])('all that wait are told at once when %s', async (_, tell, code) => {
  const waiting = Promise.allSettled([sessions.session(), sessions.session()]);
  tell();
  const told = { status: 'rejected', reason: expect.objectContaining({ code }) };
  expect(await waiting).toEqual([told, told]);
  expect(vi.getTimerCount()).toBe(0);
});
