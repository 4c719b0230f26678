import { describe, expect, it } from 'vitest';
import {
  LockConfigurationError,
  LockError,
  LockLostError,
  LockOverdueError,
  LockReentrancyError,
  LockRevokedError,
  LockShutdownError,
  LockTimeoutError,
  LockUnavailableError,
} from '../../../lib/contract/errors.js';

const ERRORS = [
  ['LockTimeoutError', 'LOCK_TIMEOUT', 423, new LockTimeoutError('orders/42', 2_000)],
  ['LockLostError', 'LOCK_LOST', 503, new LockLostError('orders/42', 'the session expired')],
  ['LockRevokedError', 'LOCK_REVOKED', 503, new LockRevokedError('orders/42')],
  ['LockOverdueError', 'LOCK_OVERDUE', 503, new LockOverdueError('orders/42', 5_000)],
  ['LockUnavailableError', 'LOCK_UNAVAILABLE', 503, new LockUnavailableError('no server', { key: 'orders/42' })],
  ['LockReentrancyError', 'LOCK_REENTRANCY', 500, new LockReentrancyError('orders/42', 'a reader cannot write')],
  ['LockShutdownError', 'LOCK_SHUTDOWN', 503, new LockShutdownError('orders/42')],
  ['LockConfigurationError', 'LOCK_CONFIGURATION', 500, new LockConfigurationError('bad', { key: 'orders/42' })],
] as const;

describe.each(ERRORS)('%s', (name, code, status, error) => {
  it('has its code, its key and its name', () => {
    expect(error).toBeInstanceOf(LockError);
    expect(error).toBeInstanceOf(Error);
    expect(error).toMatchObject({ name, code, key: 'orders/42' });
    expect(String(error)).toBe(`${name}: ${error.message}`);
  });

  it('carries the signature of http-errors: a web framework answers with the status, not the message', () => {
    expect(error).toMatchObject({ status, statusCode: status, expose: false });
  });

  it('has no cause when none was given', () => {
    expect(error).not.toHaveProperty('cause');
  });
});

describe('the message of an error', () => {
  it('has the key and the wait of a timeout', () => {
    const error = new LockTimeoutError('orders/42', 2_000);
    expect(error.message).toContain('"orders/42"');
    expect(error.message).toContain('2000 ms');
    expect(error.waitMs).toBe(2_000);
  });

  it('has the key and the limit of a run that takes too long', () => {
    const error = new LockOverdueError('orders/42', 5_000);
    expect(error.message).toMatch(/"orders\/42".*5000 ms/);
    expect(error.atMostMs).toBe(5_000);
  });

  it('has the key and the reason of a loss', () => {
    const error = new LockLostError('orders/42', 'the session expired');
    expect(error.message).toMatch(/"orders\/42".*the session expired/);
    expect(error.reason).toBe('the session expired');
  });

  it('has the key and the reason of a re-entry', () => {
    expect(new LockReentrancyError('orders/42', 'a reader cannot write').message).toMatch(
      /"orders\/42".*a reader cannot write/,
    );
  });

  it.each([
    ['all locks', undefined, 'locks'],
    ['one key', 'orders/42', '"orders/42"'],
  ])('has the shutdown of %s', (_what, key, named) => {
    const error = new LockShutdownError(key);
    expect(error.message).toBe(`${named}: the application is shutting down`);
    expect(error.key).toBe(key);
  });
});

describe('the cause of an error', () => {
  const cause = new Error('below');

  it.each([
    ['LockLostError', new LockLostError('k', 'why', { cause })],
    ['LockUnavailableError', new LockUnavailableError('message', { cause })],
    ['LockConfigurationError', new LockConfigurationError('message', { cause })],
  ])('is kept by a %s', (_name, error) => {
    expect(error.cause).toBe(cause);
  });

  it('does not change the key of a loss', () => {
    expect(new LockLostError('mine', 'why', { key: 'other', cause }).key).toBe('mine');
  });
});
