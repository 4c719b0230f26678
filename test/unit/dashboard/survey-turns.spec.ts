import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { SurveyTurns } from '../../../lib/dashboard/survey-turns.js';

vi.mock('../../../lib/async/clock.js', async (original) => ({
  ...(await original<object>()),
  now: () => Date.now(),
}));

/** Turns whose answers are the text and a number. Each survey takes 50 ms. */
function countedTurns(failing?: string) {
  const asked: { text: string; at: number }[] = [];
  const turns = new SurveyTurns(async (text) => {
    asked.push({ text, at: Date.now() });
    await new Promise((resolve) => setTimeout(resolve, 50));
    if (text === failing) throw new Error('no answer');
    return `${text} ${asked.length}`;
  });
  return { turns, asked, texts: () => asked.map(({ text }) => text) };
}

/** Asks for these texts ten times a second. */
async function pollFor(ms: number, texts: readonly string[], turns: SurveyTurns<string>): Promise<void> {
  for (let passed = 0; passed < ms; passed += 100) {
    for (const text of texts) turns.ask(text).catch(() => {});
    await vi.advanceTimersByTimeAsync(100);
  }
}

describe('the surveys of a page', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it('are one a second for all texts, and every second one is of the whole cluster', async () => {
    const { turns, asked, texts } = countedTurns();
    await pollFor(20_000, ['', 'a', 'b', 'c'], turns);
    expect(asked.length).toBeGreaterThan(15);
    const pauses = asked.slice(1).map(({ at }, place) => at - (asked[place]?.at ?? 0));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(1_000);
    expect(texts().slice(0, 9)).toEqual(['', 'a', '', 'b', '', 'c', '', 'a', '']);
  });

  it('are of the cluster alone, or of the texts alone, when nobody asks for the other', async () => {
    const cluster = countedTurns();
    await pollFor(5_000, [''], cluster.turns);
    expect(new Set(cluster.texts())).toEqual(new Set(['']));
    expect(cluster.asked.length).toBeGreaterThanOrEqual(4);
    const search = countedTurns();
    await pollFor(5_000, ['a', 'b'], search.turns);
    expect(search.texts().slice(0, 4)).toEqual(['a', 'b', 'a', 'b']);
  });

  it('answer all callers of one second with one survey, and none of them with an old one', async () => {
    const { turns, asked } = countedTurns();
    const answers = Promise.all([turns.ask(''), turns.ask('')]);
    await vi.advanceTimersByTimeAsync(50);
    expect(await answers).toEqual([' 1', ' 1']);
    await vi.advanceTimersByTimeAsync(900);
    expect(await turns.ask('')).toBe(' 1');
    expect(asked).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    const next = turns.ask('');
    await vi.advanceTimersByTimeAsync(50);
    expect(await next).toBe(' 2');
  });

  it('give the last answer to a text while another has its turn, for a while', async () => {
    const { turns } = countedTurns();
    const first = turns.ask('a');
    await vi.advanceTimersByTimeAsync(1_100);
    expect(await first).toBe('a 1');
    void turns.ask('');
    expect(await turns.ask('a')).toBe('a 1');
    await vi.advanceTimersByTimeAsync(20_000);
    void turns.ask('');
    const later = turns.ask('a');
    await vi.advanceTimersByTimeAsync(1_100);
    expect(await later).not.toBe('a 1');
  });

  it('fail for their text alone', async () => {
    const { turns, texts } = countedTurns('a');
    const failed = turns.ask('a').catch((error: unknown) => error);
    const other = turns.ask('');
    await vi.advanceTimersByTimeAsync(1_200);
    expect(await failed).toMatchObject({ message: 'no answer' });
    expect(await other).toBe(' 2');
    expect(texts()).toEqual(['a', '']);
  });

  it('are asked for again soon after one has failed', async () => {
    const { turns, asked } = countedTurns('a');
    const first = turns.ask('a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(await first).toMatchObject({ message: 'no answer' });
    void turns.ask('').catch(() => {});
    const other = turns.ask('a').catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1_200);
    await other;
    expect(asked.map(({ text }) => text)).toEqual(['a', '', 'a']);
  });

  it('refuse texts when many wait, and never the cluster', async () => {
    const { turns } = countedTurns();
    const texts = Array.from({ length: 9 }, (_, place) => `text ${place}`);
    const outcomes = texts.map((text) => turns.ask(text).then(String, (error: Error) => error.message));
    const cluster = turns.ask('');
    await vi.advanceTimersByTimeAsync(12_000);
    const found = await Promise.all(outcomes);
    expect(found.filter((one) => one === 'too many searches')).toHaveLength(1);
    expect(await cluster).toBe(' 2');
  });

  it('end when nobody asks, and begin again after a stop', async () => {
    const { turns, asked } = countedTurns();
    await pollFor(3_000, ['', 'a'], turns);
    await vi.advanceTimersByTimeAsync(3_000);
    const { length } = asked;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toHaveLength(length);
    expect(vi.getTimerCount()).toBe(0);
    void turns.ask('').catch(() => {});
    await vi.advanceTimersByTimeAsync(50);
    const left = turns.ask('a').catch((error: unknown) => error);
    turns.stop();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(String(await left)).toMatch(/nobody looks any more|a \d/);
    const again = turns.ask('b');
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await again).toMatch('b');
  });
});
