import { onTestFinished } from 'vitest';
import type { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../../lib/contract/lock-request.js';
import type { LockDirectory } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import { acquireMutex } from '../../../../lib/zookeeper/recipes/mutex.js';
import { acquireReadWrite } from '../../../../lib/zookeeper/recipes/read-write-lock.js';
import { DIRECTORY, FakeLine } from './fake-wait-queue.js';
import type { FakeClient } from './fake-wait-queue.js';

const LOCKS: LockDirectory = { path: DIRECTORY, acl: [], parents: 'container', releaseTimeoutMs: 5_000 };

/** The locks' directory, with a create delay for contenders behind others of their session. */
export const DELAYING: LockDirectory = { ...LOCKS, createDelayMs: 3 };

/** A wait queue, and sessions that end with the test. */
export function startLine(sessions: number): { readonly line: FakeLine; readonly clients: readonly FakeClient[] } {
  const line = new FakeLine();
  const clients = Array.from({ length: sessions }, () => line.connect());
  onTestFinished(() => clients.forEach(({ session }) => session.ended('closed')));
  return { line, clients };
}

/** Acquires a lock with the recipe that the backend would use. */
export function acquireOver(
  { session }: FakeClient,
  mode: Exclude<LockRequest['mode'], 'permit'>,
  signal: AbortSignal = new AbortController().signal,
  wait = true,
  label?: string,
  directory = LOCKS,
): Promise<GrantedLease | null> {
  const request: LockRequest = { key: 'k', mode, line: 'fifo', wait, signal, label };
  const asked =
    mode === 'exclusive'
      ? acquireMutex(session, directory, request)
      : acquireReadWrite(session, directory, mode, request);
  // A test may end during the wait, which then ends with the session.
  asked.catch(() => {});
  return asked;
}
