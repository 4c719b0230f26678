import { beforeEach, describe, expect, it, vi } from 'vitest';
import { TableWatch, WatchTable, WatchTables } from '../../../../lib/zookeeper/client/watch-table.js';
import type { WatchEvent } from '../../../../lib/zookeeper/client/watch-table.js';

describe('the table of watches', () => {
  const watcher = () => ({ happened: vi.fn<(event: WatchEvent) => void>() });
  let table: WatchTable;

  beforeEach(() => {
    table = new WatchTable();
  });

  it('lists each path once', () => {
    table.add('/a', watcher());
    table.add('/a', watcher());
    table.add('/b', watcher());
    expect(table.paths).toEqual(['/a', '/b']);
  });

  it('notifies all watchers of the path, and no others', () => {
    const [first, second, other] = [watcher(), watcher(), watcher()];
    table.add('/a', first);
    table.add('/a', second);
    table.add('/b', other);
    table.fire('/a', 'deleted');
    const calls = [first, second, other].map(({ happened }) => happened.mock.calls);
    expect(calls).toEqual([[['deleted']], [['deleted']], []]);
    expect(table.paths).toEqual(['/b']);
  });

  it('notifies a watcher once, until it watches again', () => {
    const told = watcher();
    table.add('/a', told);
    table.fire('/a', 'changed');
    table.fire('/a', 'deleted');
    expect(told.happened.mock.calls).toEqual([['changed']]);
  });

  it('keeps a watcher that another one adds while it is notified', () => {
    const again = watcher();
    table.add('/a', { happened: () => table.add('/a', again) });
    table.fire('/a', 'changed');
    expect(again.happened).not.toHaveBeenCalled();
    table.fire('/a', 'deleted');
    expect(again.happened.mock.calls).toEqual([['deleted']]);
  });

  it('ignores an event for a path without watchers', () => {
    table.fire('/a', 'deleted');
    expect(table.paths).toEqual([]);
  });

  it('reports on removal whether it was the path’s last watcher', () => {
    const [first, last] = [watcher(), watcher()];
    table.add('/a', first);
    table.add('/a', last);
    expect(table.remove('/a', first)).toBe(false);
    expect(table.paths).toEqual(['/a']);
    expect(table.remove('/a', last)).toBe(true);
    expect(table.paths).toEqual([]);
  });

  it('does not notify a removed watcher', () => {
    const [gone, staying] = [watcher(), watcher()];
    table.add('/a', gone);
    table.add('/a', staying);
    table.remove('/a', gone);
    table.fire('/a', 'deleted');
    expect(gone.happened).not.toHaveBeenCalled();
    expect(staying.happened).toHaveBeenCalledOnce();
  });

  it('returns false for a second removal', () => {
    const told = watcher();
    table.add('/a', told);
    table.remove('/a', told);
    expect(table.remove('/a', told)).toBe(false);
  });

  it('does not remove the next watch by a removal after the event', () => {
    const [told, next] = [watcher(), watcher()];
    table.add('/a', told);
    table.fire('/a', 'changed');
    table.add('/a', next);
    expect(table.remove('/a', told)).toBe(false);
    table.fire('/a', 'deleted');
    expect(next.happened).toHaveBeenCalledOnce();
  });

  it('is cleared without notifying the watchers', () => {
    const told = watcher();
    table.add('/a', told);
    table.clear();
    table.fire('/a', 'deleted');
    expect(told.happened).not.toHaveBeenCalled();
    expect(table.remove('/a', told)).toBe(false);
    expect(table.paths).toEqual([]);
  });
});

describe('a watch in a table', () => {
  const unset = vi.fn<(watch: TableWatch) => void>();
  let tables: WatchTables;
  let watch: TableWatch;

  beforeEach(() => {
    unset.mockClear();
    tables = new WatchTables();
    watch = new TableWatch(tables, 'data', '/a', unset);
  });

  it('resolves its promise with the event', async () => {
    tables.fire('/a', 'changed');
    await expect(watch.fired).resolves.toBe('changed');
    expect(watch.event).toBe('changed');
  });

  it('notifies its listener in the same turn, and one that comes later at once', () => {
    const happened = vi.fn<(event: WatchEvent) => void>();
    watch.listen({ happened });
    tables.fire('/a', 'deleted');
    expect(happened.mock.calls).toEqual([['deleted']]);
    watch.listen({ happened });
    expect(happened.mock.calls).toEqual([['deleted'], ['deleted']]);
  });

  it('is removed from the server when it was the last one of its path', () => {
    const other = new TableWatch(tables, 'data', '/a', unset);
    watch.remove();
    expect(unset).not.toHaveBeenCalled();
    other.remove();
    expect(unset.mock.calls).toEqual([[other]]);
  });

  it('is not removed from the server after its event, nor twice', () => {
    tables.fire('/a', 'changed');
    watch.remove();
    const next = new TableWatch(tables, 'data', '/a', unset);
    watch.remove();
    next.remove();
    next.remove();
    expect(unset).toHaveBeenCalledOnce();
  });
});

describe('the watch tables of a client', () => {
  const told: string[] = [];
  let tables: WatchTables;

  beforeEach(() => {
    told.length = 0;
    tables = new WatchTables();
    tables.data.add('/a', { happened: (event) => void told.push(`data ${event}`) });
    tables.children.add('/a', { happened: (event) => void told.push(`children ${event}`) });
  });

  it.each([
    ['changed', ['data changed']],
    ['created', ['data created']],
    ['children', ['children children']],
    ['deleted', ['data deleted', 'children deleted']],
  ] as const)('%s is news to %j', (event, news) => {
    tables.fire('/a', event);
    tables.fire('/b', event);
    expect(told).toEqual(news);
  });

  it('are cleared together', () => {
    tables.clear();
    tables.fire('/a', 'deleted');
    expect(told).toEqual([]);
  });
});
