import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { contenderNameOf, isNearTheEnd } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import { CounterEndingError, restartCounter } from '../../../../lib/zookeeper/recipes/counter.js';
import { ErrorCode, KeeperError } from '../../../../lib/zookeeper/session/requests.js';
import { Session } from '../../../../lib/zookeeper/session/session.js';
import { AnsweringClient } from '../session/answering-client.js';

const LIMIT = 2 ** 31 - 2 ** 20;
const ENDED = { directory: '/locks/a', czxid: 7n };
const CONTENDER = '_c_x-lock-2147483647';
const { signal } = new AbortController();

const isEnding = (name: string) => isNearTheEnd(contenderNameOf(name)?.number);

describe('the end of a counter', () => {
  it.each([0, 1, 1_000_000_000, LIMIT])('is not near at %d', (number) => {
    expect(isEnding(`_c_x-lock-${String(number).padStart(10, '0')}`)).toBe(false);
  });

  it.each(['2146435073', '2147483647', '-2147483648', '-000000001'])('is near, or exceeded, at %s', (number) => {
    expect(isEnding(`_c_x-lock-${number}`)).toBe(true);
    expect(isEnding(`_c_x-__READ__${number}`)).toBe(true);
  });

  it.each(['config', '_c_x-lease-2147483647', ''])('is not derived from a name that is not a contender: %j', (name) => {
    expect(isEnding(name)).toBe(false);
  });

  it('is reported with the directory', () => {
    expect(new CounterEndingError({ path: '/locks/a', czxid: 7n })).toMatchObject({
      name: 'CounterEndingError',
      message: 'the numbers of /locks/a are used up',
    });
  });
});

describe('restarting a counter', () => {
  let client: AnsweringClient;
  let session: Session;

  beforeEach(() => {
    vi.useFakeTimers();
    client = new AnsweringClient();
    client.names = [CONTENDER];
    client.czxids.set('/locks/a', 6n);
    session = new Session(client, { sessionId: 1n, timeoutMs: 3_600_000, sentAt: 0 });
  });
  afterEach(() => {
    session.ended('closed');
    vi.useRealTimers();
  });

  it('deletes the directory', async () => {
    await expect(restartCounter(session, ENDED, true, signal)).resolves.toBe(true);
    expect(client.asked).toEqual(['delete /locks/a']);
  });

  it('does nothing when another process has deleted it', async () => {
    client.failures.push(new KeeperError(ErrorCode.noNode));
    await expect(restartCounter(session, ENDED, true, signal)).resolves.toBe(true);
  });

  it('waits until the last contender has left', async () => {
    const notEmpty = new KeeperError(ErrorCode.notEmpty);
    const deletions = vi.spyOn(client, 'delete').mockRejectedValueOnce(notEmpty).mockRejectedValueOnce(notEmpty);
    const restarting = restartCounter(session, ENDED, true, signal);
    await vi.advanceTimersByTimeAsync(199);
    expect(deletions).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    await expect(restarting).resolves.toBe(true);
    expect(deletions).toHaveBeenCalledTimes(3);
  });

  it('does not wait when the caller does not', async () => {
    client.failures.push(new KeeperError(ErrorCode.notEmpty));
    await expect(restartCounter(session, ENDED, false, signal)).resolves.toBe(false);
    expect(client.asked.filter((asked) => asked.startsWith('delete'))).toHaveLength(1);
  });

  it.each([true, false])('is refused when no contender is left and others are, waiting or not: %s', async (wait) => {
    client.failures.push(new KeeperError(ErrorCode.notEmpty));
    client.names = ['42', '43', 'archive', '%queues'];
    await expect(restartCounter(session, ENDED, wait, signal)).rejects.toThrow(
      'the numbers of /locks/a are used up, and "42", "43", "archive" and 1 more below it keep it from being made anew; ' +
        'remove them when nothing uses the keys below it, or use another key',
    );
  });

  it.each([CONTENDER, 'kazoo__lock__0000000001', '_c_x-lease-0000000001', '_c_x-latch-0000000001'])(
    'waits for contenders before it looks at others: %s',
    async (name) => {
      client.failures.push(new KeeperError(ErrorCode.notEmpty));
      client.names = ['42', name];
      await expect(restartCounter(session, ENDED, false, signal)).resolves.toBe(false);
    },
  );

  it('has nothing to do when the directory was made anew since, and others stand there', async () => {
    client.failures.push(new KeeperError(ErrorCode.notEmpty));
    client.czxids.set('/locks/a', 8n);
    await expect(restartCounter(session, ENDED, true, signal)).resolves.toBe(true);
  });

  it('ends with the signal', async () => {
    const controller = new AbortController();
    client.failures.push(new KeeperError(ErrorCode.notEmpty));
    const restarting = restartCounter(session, ENDED, true, controller.signal);
    await vi.advanceTimersByTimeAsync(50);
    controller.abort('enough');
    await expect(restarting).rejects.toBe('enough');
  });

  it('ends with another refusal', async () => {
    client.failures.push(new KeeperError(ErrorCode.noAuth));
    await expect(restartCounter(session, ENDED, true, signal)).rejects.toMatchObject({ code: ErrorCode.noAuth });
  });
});
