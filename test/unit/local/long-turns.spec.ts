import { describe, expect, it } from 'vitest';
import { MANY, settled, startCallers, untilTurnIsLong, whileOneIsKept } from './callers.js';

describe('a turn of the event loop with many hand-overs', () => {
  it('ends before the next hand-over, and all callers are served in order', async () => {
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

  it('drops no waiter when the key is lost and granted again in it', async () => {
    const callers = await whileOneIsKept();
    for (const name of ['a', 'b', 'c', 'd']) void callers.ask(name);
    await settled();
    const first = callers.backend.last;
    first.grant();
    await settled();
    await untilTurnIsLong(callers);
    // `b` would be served in the next turn. Before that, another lease is granted.
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

  it('keeps the local queue of a try findable for other callers', async () => {
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

  it('keeps a lease warm that is released in it, when the waiting caller gives up', async () => {
    const callers = await whileOneIsKept();
    void callers.ask('holding', { keepMs: 60_000 });
    await settled();
    callers.backend.last.grant();
    await settled();
    const abort = new AbortController();
    const leaving = callers.ask('leaving', { signal: abort.signal });
    await untilTurnIsLong(callers);
    await callers.lease('holding').release();
    abort.abort(new Error('enough'));
    await expect(leaving).rejects.toThrow('enough');
    await settled();
    expect(callers.backend.last.isGone).toBe(false);
    expect(callers.admission.local.find('exclusive', 'k')?.isKept).toBe(true);
    await callers.acquire({ keepMs: 0 }).then((lease) => lease?.release());
    expect(callers.backend.entries).toHaveLength(2);
    expect(callers.forgot()).toBe(true);
  });

  it('leaves no state of a caller that gives up before its request', async () => {
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
