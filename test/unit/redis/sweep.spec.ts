import { expect, it, onTestFinished, vi } from 'vitest';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { RedisSession } from '../../../lib/redis/session/redis-session.js';
import { Sweeps } from '../../../lib/redis/session/sweep.js';

it('each session asks for the turn to sweep every ten minutes, also after a refusal, until it is stopped', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const asked: string[] = [];
  const sessionOf = (id: string) => {
    const run: RedisSession['run'] = async ({ name }) => {
      asked.push(`${id} ${name}`);
      throw new Error('refused');
    };
    return { keys: new RedisKeys('b'), run };
  };
  const sweeps = new Sweeps();
  sweeps.begin(sessionOf('one'));
  await vi.advanceTimersByTimeAsync(1_300_000);
  sweeps.begin(sessionOf('two'));
  await vi.advanceTimersByTimeAsync(700_000);
  sweeps.stop();
  await vi.advanceTimersByTimeAsync(7_200_000);
  expect(asked).toEqual(['one TURN', 'one TURN', 'two TURN']);
});
