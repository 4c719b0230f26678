import { describe, expect, it } from 'vitest';
import type { LockDirectory } from '../../../../lib/zookeeper/recipes/lock-directory.js';
import { PermitCount } from '../../../../lib/zookeeper/recipes/permit-count.js';
import { FakeZnodes } from './fake-znodes.js';

const POOL: LockDirectory = { path: '/pool', acl: [], parents: 'container', releaseTimeoutMs: 1 };
const number = (value: number) => Buffer.from([0, 0, 0, value]);

function start(sharedCount?: string) {
  const znodes = new FakeZnodes();
  znodes.put('/pool');
  return { znodes, count: new PermitCount(POOL, { permits: 3 }, sharedCount) };
}

describe('the number of permits beside a semaphore', () => {
  it('is what the options say, and makes nothing, until it is recorded', async () => {
    const { znodes, count } = start();
    expect(await count.read(znodes)).toBe(3);
    expect([...znodes.znodes.keys()]).toEqual(['/pool']);
    await count.write(znodes, 5);
    expect([count.path, await count.read(znodes)]).toEqual(['/pool/permits', 5]);
    await count.write(znodes, 0);
    expect(await count.read(znodes)).toBe(0);
  });

  it('is notified when it is first recorded, and when it changes', async () => {
    const { znodes, count } = start();
    const first = await count.watch(znodes);
    expect([first.permits, znodes.watched]).toEqual([3, ['children /pool']]);
    znodes.put('/pool/permits', number(4));
    await first.watch.fired;
    const second = await count.watch(znodes);
    expect([second.permits, znodes.watched]).toEqual([4, ['data /pool/permits']]);
    znodes.put('/pool/permits', number(9));
    await second.watch.fired;
    expect((await count.watch(znodes)).permits).toBe(9);
  });

  it('is not missed when it is recorded between two reads', async () => {
    const { znodes, count } = start();
    znodes.before.watchChildren = () => znodes.put('/pool/permits', number(7));
    const { permits, watch } = await count.watch(znodes);
    expect([permits, znodes.watched]).toEqual([7, ['data /pool/permits']]);
    watch.remove();
    expect(znodes.watched).toEqual([]);
  });

  it('is the one written last, even when another client creates it first', async () => {
    const { znodes, count } = start();
    const once = () => {
      znodes.before.multi = undefined as never;
      queueMicrotask(() => znodes.put('/pool/permits', number(1)));
    };
    znodes.before.multi = once;
    await count.write(znodes, 6);
    expect(await count.read(znodes)).toBe(6);
  });
});

describe('a permit count at its own path', () => {
  it('is created when it is missing', async () => {
    const { znodes, count } = start('/counts');
    expect(await count.read(znodes)).toBe(3);
    expect(znodes.znodes.get('/counts')?.data).toEqual(number(3));
    const { watch } = await count.watch(znodes);
    expect(znodes.watched).toEqual(['data /counts']);
    watch.remove();
  });
});

describe('data that is not a permit count', () => {
  it.each([
    ['empty', Buffer.alloc(0)],
    ['text', Buffer.from('3 permits')],
    ['less than none', Buffer.from([255, 255, 255, 255])],
    ['of another width', Buffer.from([0, 3])],
  ])('is refused, and leaves no watch: %s', async (_, data) => {
    const { znodes, count } = start();
    znodes.put('/pool/permits', data);
    await expect(count.read(znodes)).rejects.toThrow('what is at /pool/permits is no number of permits');
    await expect(count.watch(znodes)).rejects.toMatchObject({ code: 'LOCK_CONFIGURATION' });
    expect(znodes.watched).toEqual([]);
  });
});

it('a permit count can be a znode directly below the root', async () => {
  const { znodes, count } = start('/count');
  const { permits, watch } = await count.watch(znodes);
  expect([permits, znodes.watched]).toEqual([3, ['data /count']]);
  watch.remove();
});
