import { describe, expect, it } from 'vitest';
import {
  CronLock,
  DistributedLock,
  LeaderOnly,
  LockConfigurationError,
  OnDeposed,
  OnElected,
  ReadLock,
  SegmentLock,
  Semaphore,
  WriteLock,
} from '../../../lib/index.js';

/** The decorators as plain functions. The uses in this file would not compile as decorators. */
const decorators: Record<string, (...args: unknown[]) => void> = {
  '@DistributedLock': DistributedLock('key') as never,
  '@ReadLock': ReadLock('key') as never,
  '@WriteLock': WriteLock('key') as never,
};

class Orders {
  static all() {}
  get total() {
    return 0;
  }
  set total(_value: number) {}
  place() {}
}

const descriptorOf = (target: object, name: string) => Object.getOwnPropertyDescriptor(target, name);
const total = descriptorOf(Orders.prototype, 'total');

describe.each(Object.keys(decorators))('%s refuses', (name) => {
  const decorate = (...args: unknown[]) => {
    const decorator = decorators[name];
    return () => decorator?.(...args);
  };

  it.each([
    ['a static method', 'on Orders.all cannot lock a static method', Orders, 'all', descriptorOf(Orders, 'all')],
    ['an accessor', 'on Orders.total cannot lock an accessor', Orders.prototype, 'total', total],
    ['an arrow function', 'on Orders.arrow cannot lock a property: turn the arrow function', Orders.prototype, 'arrow'],
    ['a value', 'on Orders.field can only lock a method', Orders.prototype, 'field', { value: 5 }],
    ['a class', 'on class Orders cannot lock a class: put it above its methods', Orders],
    ['a parameter', 'on a parameter of Orders.place cannot lock a parameter', Orders.prototype, 'place', 0],
    ['a constructor parameter', 'on a parameter of new Orders cannot lock a parameter', Orders, undefined, 0],
    ['standard decorators', 'needs "experimentalDecorators": true', Orders.prototype.place, { kind: 'method' }],
  ])('%s', (_what, message, ...args) => {
    expect(decorate(...args)).toThrow(LockConfigurationError);
    expect(decorate(...args)).toThrow(`${name} ${message}`);
  });
});

describe('options and keys are checked at the decorator', () => {
  const decorating = (key: unknown, options: object, make: (key: never, options: never) => unknown) => () => {
    const decorator = make(key as never, options as never) as (...args: unknown[]) => void;
    decorator(Orders.prototype, 'place', { value: () => {} });
  };

  it.each([
    [{ waitMs: -1 }, 'waitMs must be a number of milliseconds, 0 or more, got the number -1'],
    [{ waitMs: '5' }, 'waitMs must be a number of milliseconds'],
    [
      { onContention: 'wait' },
      "onContention must be 'throw', 'skip' or a function of the context, got the string \"wait\"",
    ],
    [{ onLost: 'shrug' }, "onLost must be 'throw' or 'ignore'"],
    [{ label: 5 }, 'label must be a string'],
    [{ label: 'x'.repeat(257) }, 'label must be a string of at most 256 characters'],
    [{ reentrant: 1 }, 'reentrant must be true or false'],
    [{ connection: '' }, 'connection must be a name'],
    [{ line: 'lifo' }, "line must be 'fifo' or 'none'"],
    [{ line: 'none', waitMs: 5 }, "waitMs must be 0 where line is 'none'"],
  ])('%o', (options, message) => {
    expect(decorating('key', options, DistributedLock)).toThrow(LockConfigurationError);
    expect(decorating('key', options, DistributedLock)).toThrow(`@DistributedLock on Orders.place: ${message}`);
  });

  it('an unknown option', () => {
    const message = ': unknown field "timeout" (known: waitMs, onContention,';
    expect(decorating('key', { timeout: 5 }, DistributedLock)).toThrow(`@DistributedLock on Orders.place${message}`);
    expect(decorating('key', { line: 'none' }, ReadLock)).toThrow('@ReadLock on Orders.place: unknown field "line"');
  });

  it('a fixed key', () => {
    for (const key of ['', [], ['a', ''], 5, undefined, null]) {
      expect(decorating(key, {}, DistributedLock)).toThrow('@DistributedLock on Orders.place: the key must be text');
    }
    for (const key of ['', ['a'], 5]) {
      expect(decorating(key, {}, WriteLock)).toThrow('@WriteLock on Orders.place: the key must be text');
    }
  });
});

/** Applies the decorator to `Orders.place`. */
const placing = (decorator: unknown) => () => {
  (decorator as (...args: unknown[]) => void)(Orders.prototype, 'place', { value: () => {} });
};

describe('a fixed key that is invalid on every backend is refused at the decorator', () => {
  const uses: readonly (readonly [title: string, field: string, make: (key: string) => unknown])[] = [
    ['@DistributedLock', 'the key', (key) => DistributedLock(key)],
    ['@DistributedLock', 'the key', (key) => DistributedLock(['fine', key])],
    ['@ReadLock', 'the key', (key) => ReadLock(key)],
    ['@WriteLock', 'the key', (key) => WriteLock(key)],
    ['@Semaphore', 'the key', (key) => Semaphore(key, { permits: 4 })],
    ['@Semaphore', 'sharedCount', (key) => Semaphore('fine', { permits: 4, sharedCount: key })],
    ['@SegmentLock', 'the key', (key) => SegmentLock({ key, segments: 4 })],
    ['@LeaderOnly', 'the name', (key) => LeaderOnly(key)],
    ['@OnElected', 'the name', (key) => OnElected(key)],
    ['@OnDeposed', 'the name', (key) => OnDeposed(key)],
    ['@CronLock', 'key', (key) => CronLock({ key })],
  ];

  it.each(uses)('%s, %s', (title, field, make) => {
    for (const [key, why] of [
      ['a/../b', 'has the segment ".."'],
      ['a/', 'has an empty segment (a slash too many)'],
      ['a//b', 'has an empty segment (a slash too many)'],
      ['a\nb', 'has a control character'],
      ['\ud83d', 'has half of a surrogate pair'],
    ] as const) {
      expect(placing(make(key))).toThrow(LockConfigurationError);
      expect(placing(make(key))).toThrow(`${title} on Orders.place: ${field} ${why}, got `);
    }
    expect(placing(make(''))).toThrow(`${title} on Orders.place: ${field} must be`);
    expect(placing(make('a/b'))).not.toThrow();
  });

  it('an absolute path of @SegmentLock', () => {
    const message = '@SegmentLock on Orders.place: the key with segments must not be an absolute path, got "/a"';
    expect(placing(SegmentLock({ key: '/a', segments: 4 }))).toThrow(message);
  });
});

describe('an argument of the wrong type in place of the options is named', () => {
  it.each([
    ['@DistributedLock', DistributedLock('key', 5_000 as never), 'an object, got the number 5000'],
    ['@ReadLock', ReadLock('key', '5s' as never), 'an object, got the string "5s"'],
    ['@WriteLock', WriteLock('key', null as never), 'an object, got null'],
    ['@Semaphore', Semaphore('key', undefined as never), 'an object, got undefined'],
    ['@SegmentLock', SegmentLock('key' as never), 'an object, got the string "key"'],
    ['@LeaderOnly', LeaderOnly('name', 5 as never), 'an object, got the number 5'],
    ['@OnElected', OnElected('name', 5 as never), 'an object, got the number 5'],
    ['@CronLock', CronLock('report' as never), `an object such as { key: 'report' }, got the string "report"`],
  ])('%s', (title, decorator, why) => {
    expect(placing(decorator)).toThrow(LockConfigurationError);
    expect(placing(decorator)).toThrow(`${title} on Orders.place: the options must be ${why}`);
  });
});
