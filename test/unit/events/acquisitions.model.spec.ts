import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { LockLostError } from '../../../lib/contract/errors.js';
import type { Lease } from '../../../lib/contract/lease.js';
import { Logger } from '@nestjs/common';
import { faultsOf } from './event-referee.js';
import type { Note } from './event-referee.js';
import { startServices } from './services.js';

const KEYS = ['a', 'b'] as const;
const KINDS = [
  'mutex',
  'read',
  'write',
  'semaphore',
  'segment',
  'multi',
  'atomic',
  'leader',
  'queue',
  'batch',
  'consumer',
  'barrier',
] as const;

interface Call {
  readonly kind: (typeof KINDS)[number];
  readonly key: (typeof KEYS)[number];
  readonly verb: 'acquire' | 'tryAcquire' | 'using';
  readonly keepMs: number;
  readonly waitMs: number;
  readonly holdsFor: number;
  readonly givesUpAfter: number | undefined;
}

type Step =
  | { readonly type: 'call'; readonly call: Call }
  | { readonly type: 'turns'; readonly count: number }
  | { readonly type: 'lose' | 'suspend' | 'resume' | 'revoke'; readonly key: (typeof KEYS)[number] };

const call: fc.Arbitrary<Call> = fc.record({
  kind: fc.constantFrom(...KINDS, 'mutex', 'mutex', 'queue', 'barrier'),
  key: fc.constantFrom(...KEYS),
  verb: fc.constantFrom('acquire', 'tryAcquire', 'using'),
  keepMs: fc.constantFrom(0, 0, 60_000),
  waitMs: fc.constantFrom(0, 1, 60_000, 60_000),
  holdsFor: fc.nat({ max: 4 }),
  givesUpAfter: fc.option(fc.nat({ max: 6 }), { nil: undefined, freq: 2 }),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { arbitrary: call.map((one) => ({ type: 'call', call: one }) as const), weight: 7 },
  { arbitrary: fc.nat({ max: 4 }).map((count) => ({ type: 'turns', count }) as const), weight: 3 },
  {
    arbitrary: fc.record({
      type: fc.constantFrom('lose' as const, 'suspend' as const, 'resume' as const, 'revoke' as const),
      key: fc.constantFrom(...KEYS),
    }),
    weight: 2,
  },
);

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

async function turns(count: number): Promise<void> {
  for (let left = count; left > 0; left--) await turn();
}

/** Plays the steps, shuts the application down, and returns the notes of the referee. */
async function play(steps: readonly Step[], localLine: boolean): Promise<readonly Note[]> {
  const { locks, backend, elections, coordination, referee, close } = startServices({ localLine, drainTimeoutMs: 0 });
  const calls: Promise<unknown>[] = [];

  async function make({ kind, key, verb, keepMs, waitMs, holdsFor, givesUpAfter }: Call): Promise<void> {
    const abort = new AbortController();
    if (givesUpAfter !== undefined) void turns(givesUpAfter).then(() => abort.abort(new Error('gave up')));
    const options = { waitMs, signal: abort.signal };
    const work = async (lease: Lease) => {
      referee.work(lease);
      await turns(holdsFor);
    };
    if (kind === 'leader') return (await elections.campaign(key, options)).resign();
    if (kind === 'queue') {
      await coordination.queue(key).put(1);
      const item = await coordination.queue(key).take(options);
      return verb === 'using' ? item?.ack() : item?.nack();
    }
    if (kind === 'batch') {
      if (verb === 'using') await coordination.queue(key).putAll([1, 2, 3]);
      const items = await coordination.queue(key).takeBatch({ ...options, atMost: 1 + holdsFor });
      await turns(holdsFor);
      return void (await Promise.all(items.map((item) => (verb === 'acquire' ? item.ack() : item.nack()))));
    }
    if (kind === 'consumer') {
      for await (const item of coordination.queue(key).consume({ signal: abort.signal, batch: 2 })) await item.ack();
      return undefined;
    }
    if (kind === 'barrier') {
      return coordination.doubleBarrier(key, { count: 2 }).using(() => turns(1), { ...options, waitMs: waitMs + 1 });
    }
    const sharing = localLine ? { keepMs } : {};
    const lock = {
      mutex: () => locks.mutex(key, sharing),
      read: () => locks.readWriteLock(key, sharing).read,
      write: () => locks.readWriteLock(key, sharing).write,
      semaphore: () => locks.semaphore(key, { permits: 2 }),
      segment: () => locks.segmented(key, { segments: 2 }),
      multi: () => locks.multi(KEYS),
      atomic: () => locks.multi(KEYS, { atomic: true }),
    }[kind]();
    if (verb === 'using') return lock.using((lease) => (kind === 'mutex' ? work(lease) : turns(holdsFor)), options);
    const lease = await lock[verb](options);
    if (lease && lease.isHeld()) await turns(holdsFor);
    await lease?.release();
  }

  for (const each of steps) {
    if (each.type === 'call') calls.push(make(each.call).catch(() => {}));
    else if (each.type === 'turns') await turns(each.count);
    else if (each.type === 'revoke') calls.push(locks.revoke(each.key, { graceMs: 1 }).catch(() => {}));
    else if (each.type === 'lose') backend.leaseOn(each.key)?.lose(new LockLostError(each.key, 'test'));
    else backend.leaseOn(each.key)?.[each.type]();
  }
  await turns(2);
  await close();
  await Promise.all(calls);
  referee.stop();
  return referee.notes;
}

describe('the events of random acquisitions', () => {
  it.each([true, false])('are whole and in order, with localLine %j', { timeout: 60_000 }, async (localLine) => {
    vi.spyOn(Logger.prototype, 'warn').mockImplementation(() => {});
    const seen = new Set<string>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const notes = await play(steps, localLine);
        for (const { what, detail, request } of notes) {
          const text = detail === undefined ? what : `${what} ${detail}`;
          seen.add(text).add(`${request?.kind} ${text}`);
        }
        expect(faultsOf(notes)).toEqual([]);
      }),
      { numRuns: 200 },
    );
    // Otherwise the property would say less than it seems to.
    const rare = [
      'miss shutdown',
      'miss busy',
      'miss timeout',
      'miss aborted',
      'end lost',
      'lost',
      'revoking',
      'suspended',
      'hold',
      'queue end released',
      'queue miss aborted',
      'queue miss shutdown',
      'barrier end released',
      'barrier miss aborted',
    ];
    expect(rare.filter((text) => !seen.has(text))).toEqual([]);
  });
});

describe('the referee', () => {
  const request = { key: 'k', kind: 'lock', mode: 'exclusive' } as Note['request'];
  const note = (what: Note['what'], of = request): Note => ({ what, request: of, lease: undefined, detail: undefined });
  const whole = ['start', 'grant', 'hold', 'work', 'end'] as const;

  it('accepts whole acquisitions', () => {
    expect(faultsOf(whole.map((what) => note(what)))).toEqual([]);
    expect(faultsOf([note('start'), note('miss')])).toEqual([]);
  });

  it.each<[string, readonly Note['what'][], RegExp]>([
    ['an end that comes twice', [...whole, 'end'], /2 ends of 1 grants/],
    ['an end that is missing', ['start', 'grant'], /0 ends of 1 grants/],
    ['a miss that is missing after an abort', ['start'], /0 grants and 0 misses/],
    ['a miss beside a grant', ['start', 'grant', 'end', 'miss'], /1 grants and 1 misses/],
    ['a grant after the work began', ['start', 'work', 'grant', 'end'], /work before the grant/],
    ['a loss after the end', [...whole, 'lost'], /lost after the end/],
    ['a second start', ['start', 'start', 'miss'], /2 starts/],
    ['an event that no start came before', ['grant', 'end'], /0 starts/],
  ])('finds %s', (_what, planted, fault) => {
    expect(faultsOf(planted.map((what) => note(what))).join()).toMatch(fault);
  });

  it('finds a grant before the end of the grant ahead of it', () => {
    const next = { ...request } as Note['request'];
    const planted = [
      note('start'),
      note('grant'),
      note('start', next),
      note('grant', next),
      note('end'),
      note('end', next),
    ];
    expect(faultsOf(planted)).toEqual(['"k" was granted twice at a time']);
  });
});
