import { beforeEach, describe, expect, it, vi } from 'vitest';
import { deferred } from '../../../../lib/async/deferred.js';
import { sequenceFastPathIn } from '../../../../lib/zookeeper/recipes/shortcuts/sequence-fast-path.js';
import type { FastPathEntry } from '../../../../lib/zookeeper/recipes/shortcuts/sequence-fast-path.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';

const UNTIL_WATCHED = 4;

describe('a contender that follows one of its own session', () => {
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

  /** Lets one contender enter, hold and leave. */
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

  it('may be alone only behind one that was created after the directory was watched', async () => {
    expect(enter().isCovered).toBe(false);
    await passes();
    await passes();
    expect(session.requests.watchExistence.mock.calls).toEqual([['/k']]);
    const fastPath = enter();
    expect(fastPath.isCovered).toBe(true);
    expect(await passes(fastPath)).toBe(true);
  });

  describe('in a watched directory', () => {
    beforeEach(async () => {
      await passes();
      await passes();
    });

    it('is alone as long as no other contender comes', async () => {
      for (let time = 0; time < 5; time++) expect(await passes()).toBe(true);
    });

    it('is not when the number is not the next one', async () => {
      number++;
      expect(await passes()).toBe(false);
      expect(await passes()).toBe(true);
    });

    it('is not predicted to be alone again until the prediction was right several times', async () => {
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

    it('is never predicted to be alone when others always come in between', async () => {
      number++;
      await passes();
      for (let time = 0; time < 10; time++) {
        number++;
        const fastPath = enter();
        expect(fastPath.needsNoList).toBe(false);
        await passes(fastPath);
      }
    });

    it('is not alone when another one of its session was created first', async () => {
      const [first, second] = [enter(), enter()];
      expect([first.isCovered, second.isCovered]).toEqual([true, false]);
      expect([first.entered(number + 1), second.entered(number + 2)]).toEqual([true, false]);
    });

    it('is not alone when the previous one gave up', async () => {
      enter().entered(++number);
      expect(enter().isCovered).toBe(false);
    });

    it('is not alone after an event of the directory until it is watched again', async () => {
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

    it('is not alone in another directory', () => {
      expect(enter('/other').isCovered).toBe(false);
    });
  });

  it.each(['is not there', 'cannot be watched'])('is not alone when the directory %s', async (why) => {
    session = { epoch: 0, requests: { watchExistence: watchExistence() } };
    isThere = why !== 'is not there';
    if (isThere) session.requests.watchExistence.mockRejectedValue(new Error('refused'));
    for (let time = 0; time < 10; time++) expect(await passes()).toBe(false);
    expect(session.requests.watchExistence.mock.calls.length).toBeGreaterThan(1);
  });

  describe('with many directories', () => {
    const enterOthers = (count: number) => {
      for (let other = 0; other < count; other++) enter(`/other/${other}`);
    };

    it('has a watch in the directories that were used last', async () => {
      enterOthers(999);
      expect(remove).not.toHaveBeenCalled();
      enter();
      enterOthers(999);
      expect(remove).not.toHaveBeenCalled();
      enter('/another');
      expect(remove).toHaveBeenCalledOnce();
    });

    it('sets no watch when its directory was dropped after it was created', async () => {
      await passes();
      const fastPath = enter();
      enterOthers(1_000);
      session.requests.watchExistence.mockClear();
      await passes(fastPath);
      expect(session.requests.watchExistence).not.toHaveBeenCalled();
    });

    it('removes a watch that was requested before its directory was dropped', async () => {
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
