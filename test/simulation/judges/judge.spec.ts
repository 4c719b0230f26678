import { describe, expect, it } from 'vitest';
import { attempt, end, fault, hold, write } from '../../robustness/validate/records.js';
import type { Contender, SimulationHistory } from '../model/history.js';
import { CROWD_KEY, OWN_CROWD_KEY } from '../traffic/keys.js';
import { judge } from './judge.js';
import type { Bounds } from './judge.js';
import { made, NOTHING, run } from './records.js';

const BOUNDS: Bounds = {
  calmMs: 100,
  graceMs: 100,
  callMs: 1_000,
  turnMs: 20,
  leadMs: 100,
  idleMs: 50,
  noticeMs: 40,
  lookMs: 30,
  isShared: true,
  canFailOver: true,
};

const contender = (order: number, special: Partial<Contender> = {}): Contender => ({
  key: '/locks/k',
  mode: 'exclusive',
  session: `s${order}`,
  order,
  madeAt: 0,
  ...special,
});
const poll = (at: number) => made({ on: 'election', key: 'poller', ask: 'poll' }, [at, at + 1], { outcome: 'nothing' });
const enter = made({ on: 'double barrier', key: 'stage', ask: 'enter', count: 2 }, [0, 5]);
const member = hold({ kind: 'member', key: 'stage', from: 5, seenUntil: 8, call: enter.id });
const believer = hold({ from: 10, seenUntil: 101 });

/** A history for each judge to which only that judge objects with these words. */
const SHOWN: Readonly<Record<string, [about: RegExp, history: Partial<SimulationHistory>]>> = {
  leases: [/^exclusion: /, { holds: [hold({ token: 1n }), hold({ from: 5, token: 2n })] }],
  terms: [/^terms: /, { holds: [hold({ kind: 'term', token: 1n }), hold({ kind: 'term', from: 5, token: 2n })] }],
  register: [/^register: /, { writes: [write({ token: 7n }), write({ token: 6n })] }],
  permits: [/^permits: /, { holds: [hold({ kind: 'permits', key: 'printers', permits: 9 })] }],
  runs: [/^runs: /, { runs: [run({ tick: 5 }), run({ tick: 5, from: 5, attempt: 2 })] }],
  stock: [
    /^stock: /,
    { calls: [made({ on: 'stock', key: 'mug', ask: 'deduct', units: 2, orderId: 'a' }, [2, 3], { value: 2 })] },
  ],
  queues: [
    /^queue: /,
    {
      calls: [
        made({ on: 'queue', key: 'letters', ask: 'put', values: ['a'] }, [0, 1]),
        made({ on: 'queue', key: 'letters', ask: 'size' }, [6, 7], { value: 0 }),
      ],
    },
  ],
  'double barriers': [/^barriers: /, { calls: [enter], holds: [member] }],
  values: [
    /^values: /,
    { calls: [made({ on: 'counter', key: 'visits', ask: 'get' }, [0, 1], { value: 3, version: 2 })] },
  ],
  fifo: [
    /^fifo: .* was granted at 10, before /,
    { contenders: [contender(1, { grantedAt: 20 }), contender(2, { grantedAt: 10 })] },
  ],
  leading: [/^terms: nobody has led /, { calls: [poll(0), poll(900)] }],
  'fail-over': [
    /^liveness: .* when one follower stood still/,
    {
      holds: [hold({ key: 'orders/1', end: 'lost' })],
      faults: [fault({ name: 'freeze', target: 'follower' })],
    },
  ],
  turns: [/^turns: /, { contenders: [contender(1, { grants: [10, 101, 122] }), contender(2, { madeAt: 100 })] }],
  beliefs: [
    /^claim: .* whose contender was gone/,
    { holds: [believer], contenders: [contender(1, { goneAt: 100, holds: [believer.id] })] },
  ],
  crowds: [
    /^refusals: of 1 callers /,
    { attempts: [attempt({ keys: [`${OWN_CROWD_KEY}/a`], outcome: 'not this time', answeredAt: 5 })] },
  ],
  'shared contenders': [
    /^requests: /,
    {
      attempts: [attempt({ id: 'crowd.0', keys: [`${OWN_CROWD_KEY}/a`], answeredAt: 5 })],
      contenders: [1, 2, 3, 4].map((order) => contender(order, { key: `/locks/${OWN_CROWD_KEY}/a` })),
    },
  ],
  'crowds that wait': [
    /^fifo: callers of /,
    {
      attempts: [9, 5].map((answeredAt, place) => attempt({ id: `crowd.${place}`, keys: [CROWD_KEY], answeredAt })),
      contenders: [contender(1, { key: `/locks/${CROWD_KEY}` })],
    },
  ],
  'vain waits': [/^liveness: .* nobody had any of it/, { attempts: [attempt({ outcome: 'timeout' })] }],
  'all liveness': [/^liveness: .* ended 100\d ms after its deadline/, { attempts: [attempt({ answeredAt: 2_001 })] }],
  refusals: [/^refusals: .* which nobody writes/, { attempts: [attempt({ mode: 'read', outcome: 'not this time' })] }],
  leftovers: [/^leftovers: /, { leftovers: [{ when: 'idle', what: 'a watch' }] }],
  processes: [/^processes: /, { ends: [end({ exitCode: 1 })] }],
  answers: [/^outcomes: /, { attempts: [attempt({ outcome: 'failed' })] }],
};

const judged = (history: Partial<SimulationHistory>, bounds = BOUNDS) =>
  judge({ ...NOTHING, ...history }, bounds).map(({ check, message }) => `${check}: ${message}`);

describe('the judges', () => {
  it('object to nothing if nothing happened', () => {
    expect(judged({})).toEqual([]);
  });

  it.each(Object.entries(SHOWN))('include this one: %s', (_judge, [about, history]) => {
    expect(judged(history)).toContainEqual(expect.stringMatching(about));
  });

  it.each(['turns', 'leading', 'vain waits', 'fail-over', 'shared contenders'])(
    'leave out the checks without bounds: %s',
    (name) => {
      const { calmMs, graceMs, callMs } = BOUNDS;
      const [about, history] = SHOWN[name]!;
      expect(judged(history, { calmMs, graceMs, callMs })).not.toContainEqual(expect.stringMatching(about));
    },
  );
});
