import { describe, expect, it } from 'vitest';
import { settled, startCallers } from './callers.js';
import type { Callers } from './callers.js';
import type { ScriptedBackend } from './scripted.backend.js';

// More than a process hands over in one turn of the event loop.
const MANY = 300;

/** One key is kept, which can be taken and released as often as one likes without leaving this turn. */
async function whileOneIsKept(): Promise<Callers<ScriptedBackend>> {
  const callers = startCallers();
  void callers.ask('keeper', { key: 'kept', keepMs: 60_000 });
  await settled();
  callers.backend.last.grant();
  await settled();
  await callers.lease('keeper').release();
  return callers;
}

/** From now on, and until the next turn, whatever is handed over rests. */
async function untilTurnIsLong({ admission, backend }: Callers<ScriptedBackend>): Promise<void> {
  const target = { key: 'kept', identity: backend.identify('kept'), mode: 'exclusive', keepMs: 60_000 } as const;
  for (let time = 0; time < MANY; time++) await admission.local.takeNow(target)?.release();
  expect(admission.local.takeNow(target)).toBeUndefined();
}

describe('a turn of the event loop in which much was handed over', () => {
  it('is ended before the key goes on, and all are served in order', async () => {
    const callers = startCallers();
    const order: number[] = [];
    const works = Array.from({ length: MANY * 3 }, async (_, number) => {
      const lease = await callers.acquire();
      order.push(number);
      await lease?.release();
    });
    await settled();
    callers.backend.last.grant();
    let turns = 0;
    for (; order.length < works.length && turns < 100; turns++) await new Promise(setImmediate);
    await Promise.all(works);
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(order).toEqual(Array.from({ length: works.length }, (_, number) => number));
    expect(callers.forgot()).toBe(true);
  });

  it('does not make one forgotten who waits when the key is lost and granted again in it', async () => {
    const callers = await whileOneIsKept();
    for (const name of ['a', 'b', 'c', 'd']) void callers.ask(name);
    await settled();
    const first = callers.backend.last;
    first.grant();
    await settled();
    await untilTurnIsLong(callers);
    // `b` is to be served in the next turn; before that, there is another lease.
    await callers.lease('a').release();
    first.lose();
    callers.backend.last.grant();
    for (let step = 0; step < 20; step++) await Promise.resolve();
    await callers.leases.get('b')?.release();
    await settled();
    for (const name of ['b', 'c', 'd']) {
      await callers.lease(name).release();
      await settled();
    }
    expect(callers.told.slice(1)).toEqual(['a: granted', 'b: granted', 'c: granted', 'd: granted']);
    expect(callers.forgot()).toBe(true);
  });

  it('leaves the line of one who only tries where others find it', async () => {
    const callers = await whileOneIsKept();
    const abort = new AbortController();
    const leaving = callers.ask('leaving', { signal: abort.signal });
    await settled();
    await untilTurnIsLong(callers);
    void callers.ask('try', { waitMs: 0 });
    abort.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
    await settled();
    callers.backend.last.grant();
    await settled();
    expect(callers.told.at(-1)).toBe('try: granted');
    const line = callers.admission.local.find('exclusive', 'k');
    expect(line?.callers).toHaveLength(1);
    void callers.ask('next');
    await settled();
    expect(callers.backend.standing.filter(({ request }) => request.key === 'k')).toHaveLength(1);
    await callers.lease('try').release();
    await settled();
    expect(callers.told.at(-1)).toBe('next: granted');
    await callers.lease('next').release();
    expect(callers.forgot()).toBe(true);
  });

  it('leaves nothing of one who gives up before it has asked', async () => {
    const callers = await whileOneIsKept();
    await untilTurnIsLong(callers);
    const abort = new AbortController();
    const trying = callers.ask('try', { waitMs: 0, signal: abort.signal });
    abort.abort(new Error('enough'));
    await expect(trying).rejects.toThrow('enough');
    expect(callers.backend.entries).toHaveLength(1);
    expect(callers.forgot()).toBe(true);
  });
});
