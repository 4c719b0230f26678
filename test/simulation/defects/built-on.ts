import type { Defect } from './defect.js';

/**
 * Defects in the features that are built on locks and records: semaphores, elections, jobs, stocks, queues, values,
 * barriers.
 */
export const BUILT_ON: readonly Defect[] = [
  {
    name: 'number-of-permits-is-read-once',
    edits: [
      {
        file: 'zookeeper/recipes/permit-count.js',
        replace: 'return this.#orInitial(requests, async () => this.#parsed((await requests.read(this.path)).data));',
        by:
          'const known = (PermitCount.known ??= new Map()); if (!known.has(this.path)) known.set(this.path, ' +
          'await this.#orInitial(requests, async () => this.#parsed((await requests.read(this.path)).data))); ' +
          'return known.get(this.path);',
      },
    ],
    needs: { traffic: ['semaphore'], faults: ['none'], besides: 'setPermits' },
    finds: ['permits'],
    why: 'After setPermits a process goes on by the number that it has seen first.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/permit-count.spec.ts',
      test: 'is what the options say, and makes nothing, until it is recorded',
    },
  },
  {
    name: 'own-permits-are-not-counted',
    edits: [
      {
        file: 'zookeeper/recipes/semaphore.js',
        replace: 'return countPermits(names) <= most;',
        by: 'return countPermits(names) - contenders.length < most;',
      },
    ],
    needs: { traffic: ['semaphore'], faults: ['none'], besides: 'acquisitions of several permits' },
    finds: ['permits'],
    why: 'Whoever wants three permits is let in where one is free.',
    failsIn: {
      spec: 'test/integration/semaphore.spec.ts',
      test: 'is not starved by requests for less, whatever the order of the releases',
    },
  },
  {
    name: 'leads-on-after-the-loss',
    edits: [
      {
        file: 'elections/leader-term.js',
        replace: '(this.#isOpen || isUnder(this.term)) && this.term.isHeld()',
        by: 'this.#isOpen || isUnder(this.term)',
      },
      { file: 'elections/leadership.js', replace: 'this.#leaderTerm?.term.isHeld()', by: 'this.#leaderTerm' },
      {
        file: 'elections/leader-term.js',
        replace: "guarded(this.seen, { onLost: onLost ?? 'throw' }, work)",
        by: 'work(this.seen)',
      },
      {
        file: 'elections/held-term.js',
        replace: 'onAbort(lease.signal, () => this.#over.resolve())',
        by: 'onAbort(lease.signal, () => {})',
      },
    ],
    needs: { traffic: ['election'], faults: ['hold'], plan: { programs: ['leader'], clients: 2 } },
    finds: ['terms'],
    why: 'A leader that was cut off runs what only the leader may, beside its successor.',
    failsIn: {
      spec: 'test/unit/elections/leadership.spec.ts',
      test: 'campaigns again by itself when its term was lost',
    },
  },
  {
    name: 'one-term-and-no-more',
    edits: [
      {
        file: 'elections/leadership.js',
        replace: 'await this.#begun(term, signal);',
        by: 'return this.#begun(term, signal);',
      },
    ],
    needs: { traffic: ['election'], faults: ['expiry'], plan: { programs: ['leader'] } },
    finds: ['liveness', 'terms'],
    why: 'After each application has led once, nobody leads.',
    failsIn: {
      spec: 'test/unit/elections/leadership.spec.ts',
      test: 'campaigns again by itself when its term was lost',
    },
  },
  {
    name: 'run-is-not-written-down-before-it-begins',
    edits: [
      {
        file: 'schedule/attempt.js',
        replace: 'await this.#context.markers.write(newMarker(this.job, tick, attempt), seen);',
        by: '{ ...seen, marker: newMarker(this.job, tick, attempt) };',
      },
    ],
    needs: { traffic: ['cron'], faults: ['none'] },
    finds: ['runs'],
    why: 'A second instance that has looked before the first one ended runs the same tick again.',
    failsIn: {
      spec: 'test/unit/schedule/skew.spec.ts',
      test: 'run each tick once, and in order: %j',
    },
  },
  {
    name: 'marker-is-written-over-any',
    edits: [
      {
        file: 'schedule/markers.js',
        replace: 'value: encodeMarker(marker), ifVersion: version };',
        by: 'value: encodeMarker(marker) };',
      },
    ],
    needs: { traffic: ['cron'], faults: ['none'] },
    finds: ['runs'],
    why: 'A marker that somebody has written since is not noticed, and the tick runs twice.',
    failsIn: {
      spec: 'test/unit/schedule/skew.spec.ts',
      test: 'run each tick once, and in order: %j',
    },
  },
  {
    name: 'units-are-written-over-any',
    edits: [
      {
        file: 'stock/stock-snapshot.js',
        replace: 'value: String(units), ifVersion: version };',
        by: 'value: String(units) };',
      },
    ],
    needs: { traffic: ['stock'], faults: ['none'] },
    finds: ['stock'],
    why: 'Two processes sell the same unit.',
    failsIn: {
      spec: 'test/unit/stock/record-stock.spec.ts',
      test: 'sells to the last unit and not one more, to buyers in several processes',
    },
  },
  {
    name: 'lost-sale-is-made-again',
    edits: [
      {
        file: 'stock/stock-entries.js',
        replace: "const change = { name: this.recordName, value, ifVersion: 'absent' };",
        by: 'const change = { name: this.recordName, value };',
      },
      {
        file: 'zookeeper/records/record-write.js',
        replace: 'const known = this.isInDoubt ? await this.#findOut(session, signal) : undefined;',
        by: 'const known = undefined;',
      },
    ],
    needs: { traffic: ['stock'], faults: ['lost-reply'], plan: { ops: ['multi', 'setData', 'create2'], isBusy: true } },
    finds: ['stock', 'outcomes'],
    why: 'A sale whose answer was lost is refused as out of date, planned anew, and made twice.',
    failsIn: {
      spec: 'test/unit/stock/record-stock.spec.ts',
      test: 'is sold once, however often it is ordered',
    },
  },
  {
    name: 'item-is-completed-without-its-claim',
    edits: [
      {
        file: 'zookeeper/coordination/queue-claim.js',
        replace: 'const ops = [item, this.#contender.path]',
        by: 'await this.#session.requests.delete(this.#contender.path).catch(() => {}); const ops = [item]',
      },
    ],
    needs: { traffic: ['queue'], faults: ['none'] },
    finds: ['queue'],
    why: 'Between claim and item another consumer takes the item, and it is worked on twice.',
    failsIn: undefined,
  },
  {
    name: 'lost-put-is-made-again',
    edits: [
      {
        file: 'zookeeper/coordination/queue-put.js',
        replace: 'if (await this.#wasPut(session, signal))',
        by: 'if (false)',
      },
    ],
    needs: { traffic: ['queue'], faults: ['lost-reply'], plan: { ops: ['multi', 'setData', 'create2'], isBusy: true } },
    finds: ['queue'],
    why: 'An item whose answer was lost stands in the queue twice.',
    failsIn: {
      spec: 'test/integration/coordination/lost-replies.spec.ts',
      test: 'is put once: %j',
    },
  },
  {
    name: 'compare-and-set-without-a-version',
    edits: [
      {
        file: 'zookeeper/coordination/cell.js',
        replace: "const version = typeof ifVersion === 'number' ? ifVersion : undefined;",
        by: 'const version = undefined;',
      },
    ],
    needs: { traffic: ['value'], faults: ['none'] },
    finds: ['values', 'register'],
    why: 'Two processes that add to a counter at once count one.',
    failsIn: {
      spec: 'test/integration/coordination/contract.spec.ts',
      test: 'is written only from the version that was seen',
    },
  },
  {
    name: 'lost-write-of-a-value-is-made-again',
    edits: [
      {
        file: 'zookeeper/coordination/cell.js',
        replace: "return this.#isInDoubt ? session.surely(() => this.#findOut(session)) : 'again';",
        by: "return 'again';",
      },
    ],
    needs: { traffic: ['value'], faults: ['lost-reply'], plan: { ops: ['multi', 'setData', 'create2'], isBusy: true } },
    finds: ['values', 'outcomes'],
    why: 'An addition whose answer was lost is refused the second time, and added once more to the newer value.',
    failsIn: {
      spec: 'test/integration/coordination/lost-replies.spec.ts',
      test: 'adds to a counter once, whatever others add',
    },
  },
  {
    name: 'barrier-is-looked-at-without-a-sync',
    edits: [
      {
        file: 'zookeeper/coordination/barrier.js',
        replace: 'await session.persistently(() => session.requests.sync(path), limit);',
        by: '',
      },
    ],
    needs: { traffic: ['barrier'], faults: ['lag'], plan: { programs: ['barrier'], clients: 3, isBusy: true } },
    finds: ['barriers'],
    why: 'A call that is told to wait after the barrier was raised passes, because its server is behind.',
    failsIn: undefined,
  },
  {
    name: 'members-that-gave-up-are-counted',
    edits: [{ file: 'zookeeper/coordination/barrier-entry.js', replace: 'version: HAS_NOT_GIVEN_UP,', by: '' }],
    needs: {
      traffic: ['barrier'],
      faults: ['none'],
      besides: 'members of a double barrier that give up',
      plan: {
        programs: ['doubleBarrier'],
        clients: 2,
        isBusy: true,
        world: { link: { meanUs: 20_000, slowShare: 1 / 64, slowUs: 40_000 } },
      },
    },
    finds: ['barriers'],
    why: 'The others begin with a member that has told its caller that it is out.',
    failsIn: {
      spec: 'test/integration/coordination/contract.spec.ts',
      test: 'all enter or none, when some give up in the very moment in which the last one comes',
    },
  },
];
