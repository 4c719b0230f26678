import { onTestFinished } from 'vitest';
import type { GrantedLease } from '../../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../../lib/contract/lock-request.js';
import type { LockDirectory } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import { acquireMutex } from '../../../../lib/zookeeper/recipes/mutex.js';
import { acquireReadWrite } from '../../../../lib/zookeeper/recipes/read-write-lock.js';
import { DIRECTORY, FakeLine } from './fake-line.js';
import type { FakeClient } from './fake-line.js';

const LOCKS: LockDirectory = { path: DIRECTORY, acl: [], parents: 'container', releaseTimeoutMs: 5_000 };

/** The locks' directory, where those who wait behind others of their session are held back for a while. */
export const DELAYING: LockDirectory = { ...LOCKS, createDelayMs: 3 };

/** A line, and sessions that are over when the test has finished. */
export function startLine(sessions: number): { readonly line: FakeLine; readonly clients: readonly FakeClient[] } {
  const line = new FakeLine();
  const clients = Array.from({ length: sessions }, () => line.connect());
  onTestFinished(() => clients.forEach(({ session }) => session.ended('closed')));
  return { line, clients };
}

/** One who waits in line, over the recipe that the backend would use. */
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
  // A test may end while it waits: with the sessions, its wait is over.
  asked.catch(() => {});
  return asked;
}
