import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WaitQueueSnapshot } from '../../../../lib/zookeeper/recipes/wait-queue-snapshot.js';
import { CONTENDER_MARKS, contenderNameOf, queueOf } from '../../../../lib/zookeeper/recipes/contender-znode.js';
import type { ContenderKind, ContenderName } from '../../../../lib/zookeeper/recipes/contender-znode.js';

/** The predecessor of `own`; `undefined` if there is none. */
function predecessorOf(own: string, names: readonly string[]): string | 'gone' | undefined {
  const snapshot = new WaitQueueSnapshot(names);
  const me = contenderNameOf(own);
  const ahead = me && snapshot.ahead(me, 1);
  return ahead ? ahead[0]?.name : 'gone';
}

const has = (snapshot: WaitQueueSnapshot, one: ContenderName) => snapshot.ahead(one, 1) !== undefined;
const parsed = (name: string): ContenderName => contenderNameOf(name) ?? expect.unreachable(name);

/** The number of contenders for a lock among the names. */
const count = (...names: readonly string[]) => new WaitQueueSnapshot(names).inOrder.length;

const UUID = '8b3f5c1e-2a4d-4f6b-9c8e-0d1a2b3c4d5e';
const HEX = '8b3f5c1e2a4d4f6b9c8e0d1a2b3c4d5e';

/** A child's number as the servers write it: `%010d` of a signed 32-bit counter, the sign included. */
const sequence = (number: number) => {
  const counter = number | 0;
  return counter < 0 ? `-${String(-counter).padStart(9, '0')}` : String(counter).padStart(10, '0');
};
/** The name of a client that puts no id before the mark. */
const BARE = 'lock-0000000000';
const nameOf = (kind: ContenderKind, number: number, id = UUID) =>
  `_c_${id}-${CONTENDER_MARKS[kind]}${sequence(number)}`;
const lock = (number: number, id?: string) => nameOf('lock', number, id);
const read = (number: number, id?: string) => nameOf('read', number, id);
const write = (number: number, id?: string) => nameOf('write', number, id);

interface Member {
  readonly place: number;
  readonly kind: ContenderKind;
  readonly name: string;
}

/** Possible wait queues: listed in any order, with gaps, starting anywhere and crossing the counter's end. */
const lines = (kinds: readonly ContenderKind[]) => {
  const start = fc.oneof(fc.nat({ max: 2 ** 31 - 1 }), fc.integer({ min: 2 ** 31 - 50, max: 2 ** 31 + 50 }));
  const member = fc.record({
    place: fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 1_000_000 })),
    kind: fc.constantFrom(...kinds),
    id: fc.uuid(),
  });
  const members = fc.uniqueArray(member, { minLength: 1, maxLength: 20, selector: ({ place }) => place });
  return fc
    .tuple(start, members)
    .map(([first, standing]): Member[] =>
      standing.map(({ place, kind, id }) => ({ place, kind, name: nameOf(kind, first + place, id) })),
    );
};
const namesOf = (line: readonly Member[]) => line.map(({ name }) => name);
const excludes = (other: Member, me: Member) => me.kind !== 'read' || other.kind !== 'read';

const LATCH = `_c_${UUID}-latch-0000000001`;

const FOREIGN = [
  '',
  'lock-',
  'lock-1',
  'lock-000000001',
  'lock--00000001',
  'lock--00000000001',
  'lock-00000000010',
  'lock-0000000001.tmp',
  'config',
  '0000000001',
  `${HEX}__lock__0000000001`,
  `${HEX}__rlock__0000000001`,
  LATCH,
  `_c_${UUID}-lease-0000000001`,
  'x-72057594037927936-0000000001',
  '__WRIT__',
  `__read__0000000001`,
  `lock-0000000001/child`,
];

describe('a wait queue of names with any numbers', () => {
  it('contains its members, and no others', () => {
    const number = fc.oneof(fc.nat({ max: 9_999_999_999 }), fc.nat({ max: 5 }));
    const named = fc.tuple(number, fc.uuid()).map(([at, id]) => `_c_${id}-lock-${String(at).padStart(10, '0')}`);
    fc.assert(
      fc.property(fc.array(named, { maxLength: 30 }), named, (names, other) => {
        const snapshot = new WaitQueueSnapshot(names);
        expect(names.every((name) => has(snapshot, parsed(name)))).toBe(true);
        expect(has(snapshot, parsed(other))).toBe(names.includes(other));
      }),
    );
  });
});

describe('a wait queue of exclusive contenders', () => {
  it('has exactly one contender that waits for none, and it is the first', () => {
    fc.assert(
      fc.property(lines(['lock', 'write']), (line) => {
        const first = line.toSorted((a, b) => a.place - b.place)[0];
        const free = line.filter(({ name }) => predecessorOf(name, namesOf(line)) === undefined);
        expect(free).toEqual([first]);
      }),
    );
  });

  it('is a chain: each waits for the one right before it', () => {
    fc.assert(
      fc.property(lines(['lock', 'write']), (line) => {
        const inOrder = namesOf(line.toSorted((a, b) => a.place - b.place));
        const awaited = inOrder.map((name) => predecessorOf(name, namesOf(line)));
        expect(awaited).toEqual([undefined, ...inOrder.slice(0, -1)]);
      }),
    );
  });
});

describe('a wait queue of readers, writers and exclusive contenders', () => {
  it('makes each wait for the nearest that excludes it', () => {
    fc.assert(
      fc.property(lines(['lock', 'read', 'write']), (line) => {
        for (const me of line) {
          const ahead = line.filter((other) => other.place < me.place && excludes(other, me));
          const nearest = ahead.toSorted((a, b) => b.place - a.place)[0];
          expect(predecessorOf(me.name, namesOf(line))).toBe(nearest?.name);
        }
      }),
    );
  });

  it('never grants two that exclude each other, and always grants some', () => {
    fc.assert(
      fc.property(lines(['lock', 'read', 'write']), (line) => {
        const free = line.filter(({ name }) => predecessorOf(name, namesOf(line)) === undefined);
        expect(free).not.toEqual([]);
        expect(free.length === 1 || free.every(({ kind }) => kind === 'read')).toBe(true);
      }),
    );
  });

  it('lets readers wait for writers and exclusive contenders only', () => {
    const names = [lock(1), read(2), write(3), read(4), read(5)];
    expect(names.map((name) => predecessorOf(name, names))).toEqual([undefined, lock(1), read(2), write(3), write(3)]);
  });

  it('lets readers hold together when no other contender was before them', () => {
    const names = [read(7), read(8), write(9)];
    expect(names.map((name) => predecessorOf(name, names))).toEqual([undefined, undefined, read(8)]);
  });

  it('lets a writer wait for a reader that took the number of a writer before it', () => {
    const downgraded = read(3, HEX);
    expect(predecessorOf(write(4), [downgraded, write(4)])).toBe(downgraded);
    expect([downgraded, write(3)]).toContain(predecessorOf(write(4), [downgraded, write(3), write(4)]));
  });
});

describe('the counter’s end', () => {
  it('is followed by the smallest number, not preceded by it', () => {
    const [last, next] = [lock(2 ** 31 - 1), lock(2 ** 31)];
    expect([last, next].map((name) => name.slice(-11))).toEqual(['-2147483647', '-2147483648']);
    expect(predecessorOf(last, [next, last])).toBeUndefined();
    expect(predecessorOf(next, [next, last])).toBe(last);
  });

  it('keeps a queue in order that crosses it', () => {
    const names = [-2, -1, 0, 1, 2].map((offset) => lock(2 ** 31 + offset));
    expect(names.map((name) => predecessorOf(name, names.toReversed()))).toEqual([undefined, ...names.slice(0, -1)]);
  });

  it('holds for readers and writers too', () => {
    const names = [write(2 ** 31 - 1), read(2 ** 31), read(2 ** 31 + 1), write(2 ** 31 + 2)];
    expect(names.map((name) => predecessorOf(name, names))).toEqual([undefined, names[0], names[0], names[2]]);
  });

  it.each([-2_147_483_648, -1_000_000_000, -999_999_999, -5, -1])(
    'accepts a contender with the number %d as the servers write it',
    (number) => {
      const [first, second] = [lock(number), lock(number + 1)];
      expect(predecessorOf(first, [first, second])).toBeUndefined();
      expect(predecessorOf(second, [first, second])).toBe(first);
    },
  );

  it('grants none of several equal numbers, which say nothing about the order', () => {
    const stuck = fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 8 });
    fc.assert(
      fc.property(stuck, (ids) => {
        const names = ids.map((id) => lock(2 ** 31 - 1, id));
        for (const name of names) {
          const awaited = predecessorOf(name, names);
          expect(names).toContain(awaited);
          expect(awaited).not.toBe(name);
        }
      }),
    );
  });
});

describe('a contender that is no longer queued', () => {
  it.each([
    ['an empty list', []],
    ['a list of others', [lock(1), lock(3)]],
    ['its own number under another name', [lock(2, HEX)]],
  ])('is gone from %s', (_what, names) => {
    expect(predecessorOf(lock(2), names)).toBe('gone');
  });
});

describe('names of other kinds', () => {
  it('neither block a contender nor change the order', () => {
    const others = fc.array(fc.constantFrom(...FOREIGN));
    fc.assert(
      fc.property(lines(['lock', 'read', 'write']), others, (line, foreign) => {
        const names = namesOf(line);
        for (const name of names) {
          expect(predecessorOf(name, [...foreign, ...names])).toBe(predecessorOf(name, names));
        }
      }),
    );
  });

  it.each(FOREIGN)('do not count as other contenders: %j', (name) => {
    expect(count(BARE, name)).toBe(1);
  });
});

describe('names of other clients', () => {
  it.each([
    ['Curator’s InterProcessMutex', `_c_${UUID}-lock-0000000001`],
    ['Curator’s write lock', `_c_${UUID}-__WRIT__0000000001`],
    ['Curator’s read lock', `_c_${UUID}-__READ__0000000001`],
    ['Go’s lock', `_c_${HEX}-lock-0000000001`],
    ['a kazoo lock with the node name "-lock-"', `${HEX}-lock-0000000001`],
    ['a lock without an id', 'lock-0000000001'],
  ])('are waited for: %s', (_whose, name) => {
    expect(predecessorOf(lock(2), [name, lock(2)])).toBe(name);
    expect(predecessorOf(name, [name, lock(2)])).toBeUndefined();
    expect(count(BARE, name)).toBe(2);
  });

  it('are ordered by the number and not by the id', () => {
    const names = [`_c_ffff-lock-0000000001`, `_c_0000-lock-0000000002`];
    expect(names.map((name) => predecessorOf(name, names))).toEqual([undefined, names[0]]);
  });

  it('have the kind of their last mark', () => {
    const reader = `_c_${UUID}-__WRIT__0000000001-__READ__0000000002`;
    expect(predecessorOf(read(3), [reader, read(3)])).toBeUndefined();
  });
});

describe('a wait queue for locks', () => {
  it('is empty without names', () => {
    expect(count()).toBe(0);
  });

  it.each([lock(5), read(5), write(5)])('contains %s', (name) => {
    expect(count(name)).toBe(1);
  });
});

describe('the marks', () => {
  it('returns what Curator writes before the number', () => {
    expect([CONTENDER_MARKS.lock, CONTENDER_MARKS.write, CONTENDER_MARKS.read]).toEqual([
      'lock-',
      '__WRIT__',
      '__READ__',
    ]);
  });
});

describe('a wait queue of candidates', () => {
  it('contains only candidates, and no contenders for a lock on the same path', () => {
    const later = `_c_${UUID}-latch-0000000009`;
    const names = [lock(0), later, read(2), write(3), LATCH, ...FOREIGN, BARE];
    const snapshot = new WaitQueueSnapshot([...new Set(names)], 'candidates');
    expect(snapshot.inOrder.map(({ name }) => name)).toEqual([LATCH, later]);
    expect(snapshot.predecessors(parsed(later))?.map(({ name }) => name)).toEqual([LATCH]);
  });

  it('is recognised by the names of its members', () => {
    expect([LATCH, lock(1), read(1), write(1), BARE].map((name) => queueOf(parsed(name).kind))).toEqual([
      'candidates',
      'locks',
      'locks',
      'locks',
      'locks',
    ]);
  });
});

describe('the number in a name', () => {
  const numberOf = (name: string) => contenderNameOf(name)?.number;

  it('is that of a contender, as it was given', () => {
    const numbers = [0, 7, 2 ** 31 - 1, -(2 ** 31), -1_000_000_000, -999_999_999, -1];
    expect(numbers.map((number) => numberOf(lock(number)))).toEqual(numbers);
    expect([numberOf(read(8)), numberOf(write(9)), numberOf(BARE)]).toEqual([8, 9, 0]);
  });

  it('is that of a candidate, in its own queue', () => {
    expect(numberOf(LATCH)).toBe(1);
  });

  it.each(FOREIGN.filter((name) => name !== LATCH))('is undefined for %j', (name) => {
    expect(numberOf(name)).toBeUndefined();
  });
});
