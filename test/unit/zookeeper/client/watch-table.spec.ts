import { beforeEach, describe, expect, it, vi } from 'vitest';
import { watchEventOf, WatchTable, WatchTables } from '../../../../lib/zookeeper/client/watch-table.js';
import type { WatchEvent } from '../../../../lib/zookeeper/client/watch-table.js';

describe('watchEventOf', () => {
  it.each([
    [1, 'created'],
    [2, 'deleted'],
    [3, 'changed'],
    [4, 'children'],
    [-1, 'unknown'],
    [0, 'unknown'],
    [5, 'unknown'],
  ])('%i is %s', (type, event) => {
    expect(watchEventOf(type)).toBe(event);
  });
});

describe('the table of watches', () => {
  const watcher = () => vi.fn<(event: WatchEvent) => void>();
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
    expect([first, second, other].map(({ mock }) => mock.calls)).toEqual([[['deleted']], [['deleted']], []]);
    expect(table.paths).toEqual(['/b']);
  });

  it('notifies a watcher once, until it watches again', () => {
    const told = watcher();
    table.add('/a', told);
    table.fire('/a', 'changed');
    table.fire('/a', 'deleted');
    expect(told.mock.calls).toEqual([['changed']]);
  });

  it('keeps a watcher that another one adds while it is notified', () => {
    const again = watcher();
    table.add('/a', () => table.add('/a', again));
    table.fire('/a', 'changed');
    expect(again).not.toHaveBeenCalled();
    table.fire('/a', 'deleted');
    expect(again.mock.calls).toEqual([['deleted']]);
  });

  it('ignores an event for a path without watchers', () => {
    table.fire('/a', 'deleted');
    expect(table.paths).toEqual([]);
  });

  it('reports on removal whether it was the path’s last watcher', () => {
    const [letGo, letLastGo] = [table.add('/a', watcher()), table.add('/a', watcher())];
    expect(letGo()).toBe(false);
    expect(table.paths).toEqual(['/a']);
    expect(letLastGo()).toBe(true);
    expect(table.paths).toEqual([]);
  });

  it('does not notify a removed watcher', () => {
    const [gone, staying] = [watcher(), watcher()];
    const letGo = table.add('/a', gone);
    table.add('/a', staying);
    letGo();
    table.fire('/a', 'deleted');
    expect(gone).not.toHaveBeenCalled();
    expect(staying).toHaveBeenCalledOnce();
  });

  it('returns false for a second removal', () => {
    const letGo = table.add('/a', watcher());
    letGo();
    expect(letGo()).toBe(false);
  });

  it('does not remove the next watch by a removal after the event', () => {
    const letGo = table.add('/a', watcher());
    table.fire('/a', 'changed');
    const next = watcher();
    table.add('/a', next);
    expect(letGo()).toBe(false);
    table.fire('/a', 'deleted');
    expect(next).toHaveBeenCalledOnce();
  });

  it('is cleared without notifying the watchers', () => {
    const told = watcher();
    const letGo = table.add('/a', told);
    table.clear();
    table.fire('/a', 'deleted');
    expect(told).not.toHaveBeenCalled();
    expect(letGo()).toBe(false);
    expect(table.paths).toEqual([]);
  });
});

describe('the watch tables of a client', () => {
  const told: string[] = [];
  let tables: WatchTables;

  beforeEach(() => {
    told.length = 0;
    tables = new WatchTables();
    tables.data.add('/a', (event) => told.push(`data ${event}`));
    tables.children.add('/a', (event) => told.push(`children ${event}`));
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
