import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { now } from '../../../lib/async/clock.js';
import { pause } from '../../../lib/async/timer.js';
import { NEVER } from '../../../lib/async/abort.js';
import { RedisKeys } from '../../../lib/redis/session/redis-keys.js';
import type { Answer, RedisSession } from '../../../lib/redis/session/redis-session.js';
import { sweep, Sweeps } from '../../../lib/redis/session/sweep.js';
import { SessionEndedError } from '../../../lib/sessions/backend-sessions.js';

const MINUTE_MS = 60_000;
const keys = new RedisKeys('b');

describe('the sweeps of a process', () => {
  /** Sessions whose requests are refused, and the requests for the turn to sweep. */
  function refusing({ random, error = new Error('refused') }: { random: number; error?: Error }) {
    vi.useFakeTimers();
    const spy = vi.spyOn(Math, 'random').mockReturnValue(random);
    onTestFinished(() => {
      vi.useRealTimers();
      spy.mockRestore();
    });
    const asked: string[] = [];
    const sessionOf = (id: string) => {
      const run: RedisSession['run'] = async ({ name }) => {
        asked.push(`${id} ${name}`);
        throw error;
      };
      return { keys, run };
    };
    const warn = vi.fn<(message: string) => void>();
    return { sweeps: new Sweeps(warn), warn, asked, sessionOf };
  }

  it('ask for the turn every ten minutes, also after a refusal, in one session after the other', async () => {
    const { sweeps, asked, sessionOf } = refusing({ random: 1 });
    sweeps.begin(sessionOf('one'));
    await vi.advanceTimersByTimeAsync(21 * MINUTE_MS);
    sweeps.begin(sessionOf('two'));
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
    sweeps.stop();
    await vi.advanceTimersByTimeAsync(120 * MINUTE_MS);
    expect(asked).toEqual(['one TURN', 'one TURN', 'two TURN']);
  });

  it('begin at different times, so that those of many shards and processes do not come together', async () => {
    const { sweeps, asked, sessionOf } = refusing({ random: 0 });
    sweeps.begin(sessionOf('one'));
    await vi.advanceTimersByTimeAsync(6 * MINUTE_MS);
    expect(asked).toEqual(['one TURN']);
  });

  it('go on when the same session has another link, however often', async () => {
    const { sweeps, asked, sessionOf } = refusing({ random: 1 });
    const session = sessionOf('one');
    for (let link = 0; link < 6; link++) {
      sweeps.begin(session);
      await vi.advanceTimersByTimeAsync(2 * MINUTE_MS);
    }
    expect(asked).toEqual(['one TURN']);
  });

  it('warn of a refusal', async () => {
    const { sweeps, warn, sessionOf } = refusing({ random: 1 });
    sweeps.begin(sessionOf('one'));
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
    expect(warn.mock.calls).toEqual([['the sweep has failed, and is tried again in ten minutes: refused']]);
  });

  it('do not warn of the end of a session, which the next one follows', async () => {
    const { sweeps, warn, asked, sessionOf } = refusing({ random: 1, error: new SessionEndedError('late') });
    sweeps.begin(sessionOf('one'));
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
    expect(asked).toEqual(['one TURN']);
    expect(warn).not.toHaveBeenCalled();
  });
});

describe('a sweep that the next session has stopped', () => {
  it('is not warned of', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const warn = vi.fn<(message: string) => void>();
    const sweeps = new Sweeps(warn);
    let refuse!: (error: Error) => void;
    const refused = new Promise<Answer>((_, reject) => (refuse = reject));
    sweeps.begin({ keys, run: () => refused });
    await vi.advanceTimersByTimeAsync(11 * MINUTE_MS);
    sweeps.begin({ keys, run: () => new Promise<Answer>(() => {}) });
    refuse(new Error('aborted'));
    await vi.advanceTimersByTimeAsync(1);
    expect(warn).not.toHaveBeenCalled();
    sweeps.stop();
  });
});

describe('a sweep', () => {
  /** A session of a database with several parts, whose answers take that long. */
  function slowly(ms: number) {
    const seen: { readonly name: string; readonly at: number }[] = [];
    const run: RedisSession['run'] = async ({ name }, _keys, values): Promise<Answer> => {
      seen.push({ name, at: now() });
      if (name === 'TURN') return ['TURN'];
      await pause(ms, NEVER);
      const [cursor] = values as readonly string[];
      return ['FOUND', cursor === '0' ? '1' : '0', []];
    };
    return { seen, run };
  }

  it('rests between its steps for several times as long as they take', async () => {
    const { seen, run } = slowly(30);
    await sweep({ keys, run });
    const [first, second] = seen.filter(({ name }) => name === 'FIND');
    expect(second!.at - first!.at).toBeGreaterThan(200);
  });

  it('keeps its turn from step to step, and ends it', async () => {
    const { seen, run } = slowly(1);
    await sweep({ keys, run });
    expect(seen.map(({ name }) => name)).toEqual(['TURN', 'FIND', 'TURN', 'FIND', 'TURN', 'TURN']);
  });

  it('ends at once when it is stopped', async () => {
    const { seen, run } = slowly(1);
    const [stop, reason] = [new AbortController(), new Error('stopped')];
    const stopped: RedisSession['run'] = async (...request) => {
      const answer = await run(...request);
      if (request[0].name === 'FIND') stop.abort(reason);
      return answer;
    };
    await expect(sweep({ keys, run: stopped }, stop.signal)).rejects.toBe(reason);
    expect(seen.map(({ name }) => name)).toEqual(['TURN', 'FIND']);
  });
});
