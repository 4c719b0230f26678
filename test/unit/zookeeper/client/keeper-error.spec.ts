import { describe, expect, it } from 'vitest';
import {
  isConnectionLoss,
  isKeeperError,
  isPassing,
  KeeperError,
} from '../../../../lib/zookeeper/client/keeper-error.js';
import { ErrorCode } from '../../../../lib/zookeeper/client/zookeeper-client.js';

describe('an error answer', () => {
  it('names code and path, hides the stack of the answer reader, and leaves other errors unchanged', () => {
    const before = Error.stackTraceLimit;
    const error = new KeeperError(ErrorCode.noNode, '/a');
    expect([error.message, error.stack?.includes('\n')]).toEqual(['ZooKeeper: noNode at /a', false]);
    expect(Error.stackTraceLimit).toBe(before);
    expect(new Error('another').stack).toContain('\n');
  });
});

describe('a KeeperError', () => {
  it.each([
    [ErrorCode.noNode, '/a', 'ZooKeeper: noNode at /a'],
    [ErrorCode.sessionExpired, undefined, 'ZooKeeper: sessionExpired'],
    [-777, '/a', 'ZooKeeper: code -777 at /a'],
  ])('says what the code %d means, and where', (code, path, message) => {
    const error = new KeeperError(code, path);
    expect(error.message).toBe(message);
    expect(error).toMatchObject({ name: 'KeeperError', code, path });
  });

  it('leaves open whether the request was applied when the connection or the session ended', () => {
    const losses = Object.values(ErrorCode).filter((code) => isConnectionLoss(new KeeperError(code)));
    expect(losses).toEqual([ErrorCode.connectionLoss, ErrorCode.sessionExpired, ErrorCode.sessionMoved]);
  });
});

describe('a refusal', () => {
  it.each([ErrorCode.throttled, ErrorCode.operationTimeout, ErrorCode.systemError])('is temporary: %i', (code) => {
    expect(isPassing(new KeeperError(code))).toBe(true);
  });

  it.each([ErrorCode.noNode, ErrorCode.noAuth, ErrorCode.invalidAcl])('is final: %i', (code) => {
    expect(isPassing(new KeeperError(code))).toBe(false);
  });
});

describe('recognising errors', () => {
  it('uses the code', () => {
    const error = new KeeperError(ErrorCode.nodeExists);
    expect(isKeeperError(error, 'nodeExists')).toBe(true);
    expect(isKeeperError(error, 'noNode')).toBe(false);
  });

  it.each([undefined, null, new Error('noNode'), { code: ErrorCode.noNode }, { isConnectionLoss: true }])(
    'does not take %o for one',
    (error) => {
      expect(isKeeperError(error, 'noNode')).toBe(false);
      expect(isConnectionLoss(error)).toBe(false);
      expect(isPassing(error)).toBe(false);
    },
  );
});
