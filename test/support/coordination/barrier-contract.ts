import { describe, expect, it } from 'vitest';
import { LockConfigurationError } from '../../../lib/index.js';
import type { BarrierMember } from '../../../lib/index.js';
import type { OpenPair } from './queue-contract.js';

/** Defines the tests that every implementation of barriers must pass. */
export function itHasBarriers(open: OpenPair): void {
  describe('a barrier', () => {
    it('blocks all waiters until it is lifted, and none once it is lifted', async () => {
      const { one, other } = await open();
      await one.barrier('b').wait();
      await one.barrier('b').raise();
      await other.barrier('b').raise();
      expect(await other.barrier('b').isUp()).toBe(true);
      const passed: string[] = [];
      const waits = ['x', 'y', 'z'].map((name) =>
        other
          .barrier('b')
          .wait()
          .then(() => void passed.push(name)),
      );
      expect(await other.barrier('b').isUp()).toBe(true);
      expect(passed).toEqual([]);
      await one.barrier('b').lift();
      await Promise.all(waits);
      await one.barrier('b').lift();
      expect(await other.barrier('b').isUp()).toBe(false);
      await other.barrier('b').wait({ waitMs: 0 });
    });

    it('rejects a wait at its timeout, or with the signal’s own reason', async () => {
      const { one } = await open();
      const barrier = one.barrier('b');
      await barrier.raise();
      for (const waitMs of [0, 30]) {
        await expect(barrier.wait({ waitMs })).rejects.toMatchObject({
          code: 'LOCK_TIMEOUT',
          message: /is not lifted/,
        });
      }
      const abort = new AbortController();
      const waiting = barrier.wait({ signal: abort.signal });
      const reason = new Error('gave up');
      abort.abort(reason);
      await expect(waiting).rejects.toBe(reason);
      await barrier.lift();
    });

    it('is independent of a barrier with another key, nested or not', async () => {
      const { one } = await open();
      await one.barrier('b/c').raise();
      expect([await one.barrier('b').isUp(), await one.barrier('b/c').isUp()]).toEqual([false, true]);
    });
  });

  describe('a double barrier', () => {
    it('is entered and left by all together', async () => {
      const { one, other } = await open();
      const entered: number[] = [];
      const enter = async (service: typeof one, place: number) => {
        const member = await service.doubleBarrier('d', { count: 3 }).enter();
        entered.push(place);
        return member;
      };
      const first = enter(one, 0);
      const second = enter(other, 1);
      await expect(one.doubleBarrier('unrelated', { count: 2 }).enter({ waitMs: 50 })).rejects.toThrow(/fewer than 2/);
      expect(entered).toEqual([]);
      const members = await Promise.all([first, second, enter(one, 2)]);
      expect(members.map((member) => member.isIn())).toEqual([true, true, true]);
      const left: number[] = [];
      const leave = (place: number) => members[place]!.leave().then(() => void left.push(place));
      const leaving = [leave(2), leave(0)];
      await one.barrier('unrelated').isUp();
      expect(left).toEqual([]);
      await Promise.all([...leaving, leave(1)]);
      expect(members.map((member) => member.isIn())).toEqual([false, false, false]);
    });

    it('can be entered again by the same members, round after round', async () => {
      const { one, other } = await open();
      let inside = 0;
      const rounds: number[] = [];
      const run = async (service: typeof one) => {
        for (let round = 0; round < 8; round++) {
          await service.doubleBarrier('d', { count: 3 }).using(async () => {
            inside++;
            await service.barrier('unrelated').isUp();
            rounds.push(round);
          });
          inside--;
        }
      };
      await Promise.all([run(one), run(other), run(one)]);
      expect(rounds).toEqual(Array.from({ length: 24 }, (_, n) => Math.floor(n / 3)));
      expect(inside).toBe(0);
    });

    it('does not count a member that gave up', async () => {
      const { one, other } = await open();
      const barrier = one.doubleBarrier('d', { count: 2 });
      await expect(barrier.enter({ waitMs: 60 })).rejects.toMatchObject({ code: 'LOCK_TIMEOUT' });
      const abort = new AbortController();
      const reason = new Error('gave up');
      const aborted = expect(barrier.enter({ signal: abort.signal })).rejects.toBe(reason);
      await one.barrier('unrelated').isUp();
      abort.abort(reason);
      await aborted;
      await expect(other.doubleBarrier('d', { count: 2 }).enter({ waitMs: 60 })).rejects.toThrow(/fewer than 2 at it/);
      const both = await Promise.all([one, other].map((service) => service.doubleBarrier('d', { count: 2 }).enter()));
      await Promise.all(both.map((member) => member.leave()));
    });

    it('all enter or none, when some give up in the very moment in which the last one comes', async () => {
      const { one, other } = await open();
      for (let round = 0; round < 25; round++) {
        const abort = new AbortController();
        const services = [one, other, one];
        const attempts = services.map((service, place) => {
          const options = place === 1 ? { signal: abort.signal, waitMs: 20_000 } : { waitMs: 150 };
          return service
            .doubleBarrier(`d${round}`, { count: 3 })
            .enter(options)
            .catch(() => undefined);
        });
        setTimeout(() => abort.abort(new Error('gave up')), round / 4);
        const members = (await Promise.all(attempts)).filter((member): member is BarrierMember => member !== undefined);
        expect([0, 3]).toContain(members.length);
        await Promise.all(members.map((member) => member.leave()));
      }
    });

    it('is left at the deadline, without blocking the other members', async () => {
      const { one, other } = await open();
      const [slow, quick] = await Promise.all([one, other].map((s) => s.doubleBarrier('d', { count: 2 }).enter()));
      await expect(quick!.leave({ waitMs: 50 })).rejects.toMatchObject({
        code: 'LOCK_TIMEOUT',
        message: /others inside/,
      });
      expect(quick!.isIn()).toBe(false);
      await slow!.leave();
      await expect(slow!.leave()).rejects.toMatchObject({ code: 'LOCK_LOST' });
    });

    it('admits a count of 1 at once, and late members while others are in', async () => {
      const { one, other } = await open();
      const alone = await one.doubleBarrier('d', { count: 1 }).enter();
      const late = await other.doubleBarrier('d', { count: 1 }).enter();
      await Promise.all([alone.leave(), late.leave()]);
      const both = await Promise.all([one, other].map((s) => s.doubleBarrier('e', { count: 2 }).enter()));
      const third = await one.doubleBarrier('e', { count: 2 }).enter();
      expect(third.isIn()).toBe(true);
      await Promise.all([...both, third].map((member) => member.leave()));
    });

    it('rejects with the error of the work, and is left', async () => {
      const { one, other } = await open();
      const error = new Error('broken');
      const failing = one.doubleBarrier('d', { count: 2 }).using(() => Promise.reject(error));
      const working = other.doubleBarrier('d', { count: 2 }).using(() => 'done');
      await expect(failing).rejects.toBe(error);
      expect(await working).toBe('done');
    });

    it.each([[0], [1.5], [1_001], ['3']])('refuses %j for a count', async (count) => {
      const { one } = await open();
      expect(() => one.doubleBarrier('d', { count: count as number })).toThrow(LockConfigurationError);
    });
  });
}
