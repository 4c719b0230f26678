import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../../lib/async/deferred.js';
import { sequenceFastPathIn } from '../../../../lib/zookeeper/recipes/sequence-fast-path.js';
import type { FastPathEntry } from '../../../../lib/zookeeper/recipes/sequence-fast-path.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const UNTIL_WATCHED = 4;

describe('who follows a contender of its own session', () => {
  let session: { epoch: number; readonly requests: { watchExistence: ReturnType<typeof watchExistence> } };
  let event: ReturnType<typeof deferred<'deleted'>>;
  let isThere: boolean;
  let number: number;
  const remove = vi.fn<() => void>();

  const watchExistence = () =>
    vi.fn<(path: string) => Promise<object>>(async () => {
      event = deferred();
      return { isThere, watch: { fired: event.promise, remove } };
    });
  const enter = (path = '/k') => sequenceFastPathIn(session as unknown as Session, path).enter();
  const settled = () => new Promise(setImmediate);

  /** One comes in, has its turn, and leaves. */
  const passes = async (fastPath: FastPathEntry = enter()): Promise<boolean> => {
    const isAlone = fastPath.entered(++number);
    await settled();
    fastPath.left(number);
    return isAlone;
  };

  beforeEach(async () => {
    remove.mockClear();
    [isThere, number] = [true, 0];
    session = { epoch: 0, requests: { watchExistence: watchExistence() } };
    for (let time = 0; time < UNTIL_WATCHED; time++) await passes();
  });

  it('may be alone only behind one that came in when the directory was watched', async () => {
    expect(enter().isCovered).toBe(false);
    await passes();
    await passes();
    expect(session.requests.watchExistence.mock.calls).toEqual([['/k']]);
    const fastPath = enter();
    expect(fastPath.isCovered).toBe(true);
    expect(await passes(fastPath)).toBe(true);
  });

  describe('once it is', () => {
    beforeEach(async () => {
      await passes();
      await passes();
    });

    it('is alone for as long as nobody else comes', async () => {
      for (let time = 0; time < 5; time++) expect(await passes()).toBe(true);
    });

    it('is not when the number is not the next one', async () => {
      number++;
      expect(await passes()).toBe(false);
      expect(await passes()).toBe(true);
    });

    it('is not guessed at again until it has been right several times', async () => {
      const guesses: boolean[] = [];
      const guessed = async () => {
        const fastPath = enter();
        guesses.push(fastPath.needsNoList);
        await passes(fastPath);
      };
      await guessed();
      number++;
      for (let time = 0; time < 5; time++) await guessed();
      expect(guesses).toEqual([true, true, false, false, false, true]);
    });

    it('is never guessed at where somebody else comes between each time', async () => {
      number++;
      await passes();
      for (let time = 0; time < 10; time++) {
        number++;
        const fastPath = enter();
        expect(fastPath.needsNoList).toBe(false);
        await passes(fastPath);
      }
    });

    it('is not when another one of its session came in first', async () => {
      const [first, second] = [enter(), enter()];
      expect([first.isCovered, second.isCovered]).toEqual([true, false]);
      expect([first.entered(number + 1), second.entered(number + 2)]).toEqual([true, false]);
    });

    it('is not when the one before gave up', async () => {
      enter().entered(++number);
      expect(enter().isCovered).toBe(false);
    });

    it('is not when something happened to the directory, until it is watched again', async () => {
      const fastPath = enter();
      event.resolve('deleted');
      await settled();
      expect(fastPath.isCovered).toBe(false);
      expect(fastPath.entered(number + 1)).toBe(false);
      expect(enter().isCovered).toBe(false);
      for (let time = 0; time < UNTIL_WATCHED + 1; time++) await passes();
      expect(session.requests.watchExistence).toHaveBeenCalledTimes(2);
      expect(await passes()).toBe(true);
    });

    it('is not over another connection', async () => {
      const fastPath = enter();
      session.epoch++;
      expect(fastPath.isCovered).toBe(false);
      expect(fastPath.entered(number + 1)).toBe(false);
      expect(remove).toHaveBeenCalledOnce();
    });

    it('is not in another directory', () => {
      expect(enter('/other').isCovered).toBe(false);
    });
  });

  it.each(['is not there', 'cannot be watched'])('is not when the directory %s', async (why) => {
    session = { epoch: 0, requests: { watchExistence: watchExistence() } };
    isThere = why !== 'is not there';
    if (isThere) session.requests.watchExistence.mockRejectedValue(new Error('refused'));
    for (let time = 0; time < 10; time++) expect(await passes()).toBe(false);
    expect(session.requests.watchExistence.mock.calls.length).toBeGreaterThan(1);
  });

  describe('of many directories', () => {
    const enterOthers = (count: number) => {
      for (let other = 0; other < count; other++) enter(`/other/${other}`);
    };

    it('is watched for in those that were asked for last', async () => {
      enterOthers(999);
      expect(remove).not.toHaveBeenCalled();
      enter();
      enterOthers(999);
      expect(remove).not.toHaveBeenCalled();
      enter('/another');
      expect(remove).toHaveBeenCalledOnce();
    });

    it('is not watched for any more by one who came in before it was forgotten', async () => {
      await passes();
      const fastPath = enter();
      enterOthers(1_000);
      session.requests.watchExistence.mockClear();
      await passes(fastPath);
      expect(session.requests.watchExistence).not.toHaveBeenCalled();
    });

    it('has no watch left that was asked for before it was forgotten', async () => {
      session = { epoch: 0, requests: { watchExistence: watchExistence() } };
      number = 0;
      for (let time = 0; time < UNTIL_WATCHED - 1; time++) await passes();
      const fastPath = enter();
      fastPath.entered(++number);
      expect(session.requests.watchExistence).toHaveBeenCalledOnce();
      enterOthers(1_000);
      expect(remove).not.toHaveBeenCalled();
      await settled();
      expect(remove).toHaveBeenCalledOnce();
    });
  });
});
