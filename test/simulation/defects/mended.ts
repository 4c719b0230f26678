import type { Defect } from './defect.js';
import { NAMES } from './names.js';

const LOCAL_QUEUE = 'local/local-queue.js';
const SHARED_LEASE = 'local/shared-lease.js';
const COUNTER = 'zookeeper/recipes/counter.js';

const readersTest = (test: string) => ({ spec: 'test/unit/local/readers.spec.ts', test });
const brokenSetTest = (test: string) => ({ spec: 'test/unit/composite/broken-set.spec.ts', test });

/** Makes the numbers of a directory run out within a simulation. */
const FEW_NUMBERS = { file: 'zookeeper/recipes/contender-znode.js', replace: '2 ** 31 - 2 ** 20', by: '60' };

/** Defects that refuse or forget readers and tries of one process. */
const READERS: readonly Defect[] = [
  {
    name: 'readers-that-wait-in-doubt-are-forgotten',
    edits: [
      {
        file: SHARED_LEASE,
        replace: "if (this.mode === 'read')",
        by: "if (this.mode === 'read' && bounds === 'in doubt') return 'in doubt'; if (this.mode === 'read')",
      },
      {
        file: LOCAL_QUEUE,
        replace: 'void this.#follow(shared);',
        by: 'if (shared.isIdle) void this.#follow(shared); else this.#serve(shared);',
      },
    ],
    needs: {
      traffic: ['read-write'],
      faults: ['none'],
      besides: 'a writer of another process that gives up',
      plan: { crowdKinds: ['readers and writers'], programs: ['crowd'], localLine: true, crowdSizes: [6] },
    },
    finds: ['liveness', 'outcomes'],
    why: 'Readers wait until the readers inside have left, although the writer that was before them has given up.',
    failsIn: readersTest('lines up behind a writer that waits, and is granted when the writer gives up'),
  },
  {
    name: 'second-try-at-once-is-refused',
    edits: [
      {
        file: LOCAL_QUEUE,
        replace: 'const refusal = await orAbort(sent.refusal, request.signal);',
        by: 'return null; const refusal = undefined;',
      },
    ],
    needs: {
      traffic: ['try', 'read-write'],
      faults: ['none'],
      besides: 'tries of one process at the same time',
      plan: { crowdKinds: ['readers'], programs: ['crowd'], localLine: true, crowdSizes: [3] },
    },
    finds: ['refusals'],
    why: 'Of two readers that try a free key at once, one is told that it is taken.',
    failsIn: readersTest('share, as readers, what the first of them is granted'),
  },
  {
    name: 'try-in-a-long-turn-is-refused',
    edits: [
      {
        file: LOCAL_QUEUE,
        replace: "return this.#turn.isLong || this.#shared?.admission === 'in doubt';",
        by: "return this.#shared?.admission === 'in doubt';",
      },
      {
        file: LOCAL_QUEUE,
        replace: 'if (this.#isTaken(request))',
        by: 'if (this.#isTaken(request) || this.#turn.isLong)',
      },
    ],
    needs: {
      traffic: ['try', 'read-write'],
      faults: ['none'],
      besides: 'more than 256 tries in one turn',
      plan: { crowdKinds: ['readers'], programs: ['crowd'], localLine: true, crowdSizes: [300] },
    },
    finds: ['refusals'],
    why: 'From the 257th try of one turn of the event loop on, a reader beside readers is refused.',
    failsIn: { spec: 'test/unit/memory/readers-table.spec.ts', test: '$title' },
  },
  {
    name: 'reader-of-a-used-up-lease-is-refused',
    edits: [
      { file: 'contract/granted-lease.js', replace: '2 ** Number(HAND_OVER_BITS) - 1', by: '15' },
      {
        file: SHARED_LEASE,
        replace: 'if (this.#isClosed || this.#handOvers >= MOST_HAND_OVERS || !this.#lease.isHeld())',
        by:
          "if (this.#handOvers >= MOST_HAND_OVERS && !this.#isClosed) return 'full'; " +
          'if (this.#isClosed || !this.#lease.isHeld())',
      },
      {
        file: LOCAL_QUEUE,
        replace: "if (mode === 'read')",
        by: "if (mode === 'read' && this.#shared?.admission === 'full') return true; if (mode === 'read')",
      },
    ],
    needs: {
      traffic: ['try', 'read-write'],
      faults: ['none'],
      besides: 'more than 15 readers of one process that overlap',
      plan: { crowdKinds: ['readers'], programs: ['crowd'], localLine: true, crowdSizes: [20, 40] },
    },
    finds: ['refusals', 'liveness'],
    why: 'After 65,535 readers of one lease a try is refused, and others wait until all have left. The edit makes it 15.',
    failsIn: readersTest('lines up anew when the numbers of the standing lease are used up'),
  },
  {
    name: 'second-try-out-of-reach-is-refused',
    edits: [
      {
        file: LOCAL_QUEUE,
        replace: 'if (refusal instanceof LockUnavailableError)',
        by: 'if (refusal instanceof LockUnavailableError) return null; if (refusal instanceof LockUnavailableError)',
      },
    ],
    needs: {
      traffic: ['try'],
      faults: ['lost-quorum'],
      plan: { crowdKinds: ['tries', 'a waiter and tries'], programs: ['crowd'], localLine: true, crowdSizes: [3] },
    },
    finds: ['refusals', 'outcomes'],
    why: 'While no server answers, the second caller that tries is told that somebody else has the key.',
    failsIn: readersTest('are each told that the servers are out of reach (%s)'),
  },
  {
    name: 'try-behind-a-waiter-out-of-reach-is-refused',
    edits: [
      {
        file: LOCAL_QUEUE,
        replace: "this.#backend.state === 'connected' && this.#waiting.size > 0",
        by: 'this.#waiting.size > 0',
      },
    ],
    needs: {
      traffic: ['try', 'locks'],
      faults: ['lost-quorum'],
      plan: { crowdKinds: ['tries', 'a waiter and tries'], programs: ['crowd'], localLine: true, crowdSizes: [3] },
    },
    finds: ['refusals', 'outcomes'],
    why: 'A caller that tries takes another one that waits for the servers for a holder.',
    failsIn: readersTest('are told by the backend, and not by a caller that waits, while it is out of reach'),
  },
  {
    name: 'every-try-makes-a-contender',
    edits: [{ file: LOCAL_QUEUE, replace: 'const sent = this.#sentTry;', by: 'const sent = undefined;' }],
    needs: {
      traffic: ['try'],
      faults: ['none'],
      besides: 'crowds of tries of one key in one process',
      plan: { crowdKinds: ['tries', 'a waiter and tries'], programs: ['crowd'], localLine: true, crowdSizes: [20] },
    },
    finds: ['requests', 'refusals'],
    why: 'A thousand tries make a thousand znodes, and those of one process refuse each other.',
    failsIn: readersTest('make two contenders at most, however many they are (%s)'),
  },
  {
    name: 'late-caller-is-not-told-of-the-loss',
    edits: [{ file: 'contract/granted-lease.js', replace: 'follower.lose(this.#abortReason);', by: 'void 0;' }],
    needs: { traffic: ['read-write', 'locks'], faults: ['expiry'] },
    finds: ['claim'],
    why: 'The signal of a caller that is let in as the lease is lost never aborts.',
    failsIn: {
      spec: 'test/unit/local/shared-lease.spec.ts',
      test: 'is told that the lease is %s',
    },
  },
];

/** Defects after which the library does not recover from a fault, or reports the wrong outcome. */
const RECOVERY: readonly Defect[] = [
  {
    name: 'handshake-always-claims-the-zxid',
    edits: [
      {
        file: 'zookeeper/client/handshakes.js',
        replace: 'zxid.equals(NO_ZXID) || at - (this.#downSince ?? at) <= sessionTimeout',
        by: 'true',
      },
    ],
    needs: { traffic: ['locks'], faults: ['data-gone'] },
    finds: ['liveness'],
    why: 'Servers that come back without their data hang up on the handshake, for as long as the process lives.',
    failsIn: {
      spec: 'test/unit/zookeeper/client/handshakes.spec.ts',
      test: 'claims the last zxid until the connection has been gone for a session timeout',
    },
  },
  {
    name: 'set-waits-on-after-a-loss',
    edits: [
      {
        file: 'composite/multi-lock.js',
        replace: 'this.#disposals.push(onAbort(lease.signal, ended));',
        by: '',
      },
      {
        file: 'composite/multi-lock.js',
        replace: "lost.state === 'lost' && this.#isOuter(lost)",
        by: "lost.state === 'lost'",
      },
    ],
    needs: { traffic: ['multi'], faults: ['expiry'] },
    finds: ['outcomes', 'liveness'],
    why: 'A set that loses its first key waits for the second, and then rejects with the loss.',
    failsIn: brokenSetTest('leaves the queue it waits in when a key is lost, and lines up again for all of them'),
  },
  {
    name: 'set-hears-no-revocation-before-it-is-complete',
    edits: [
      {
        file: 'composite/multi-lock.js',
        replace: ': () => this.#breakBy(lease);',
        by: ': () => void (lease.isHeld() || this.#breakBy(lease));',
      },
    ],
    needs: { traffic: ['multi', 'revoke'], faults: ['none'], plan: { programs: ['sets'], clients: 2 } },
    finds: ['liveness', 'outcomes'],
    why: 'Who revokes a key of a set waits until the set has all its keys, or takes the key by force.',
    failsIn: brokenSetTest('gives a key back at once that is revoked, and lines up again behind the request for it'),
  },
  {
    name: 'loss-is-known-by-one-timer',
    edits: [
      {
        file: 'sessions/session-leases.js',
        replace: 'if (this.#leases.size === 0)',
        by: 'if (this.#cancelTimer) return; if (this.#leases.size === 0)',
      },
    ],
    needs: { traffic: ['locks'], faults: ['suspend', 'hold'], plan: { isInCompany: true, keptShare: 0.4 } },
    finds: ['claim'],
    why: 'A timer stops while the machine is suspended: the signal aborts too late by as long.',
    failsIn: {
      spec: 'test/unit/zookeeper/session/session.spec.ts',
      test: 'are lost in time when the machine was suspended for a part of it',
    },
  },
  {
    name: 'shorter-timeout-moves-no-timer',
    edits: [
      {
        file: 'sessions/session-leases.js',
        replace: 'if (this.#leases.size === 0)',
        by: 'if (this.#cancelTimer) return; if (this.#leases.size === 0)',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['reset', 'hold'],
      besides: 'servers that grant different timeouts',
      plan: {
        isInCompany: true,
        // A client asks for the timeout that it was granted last. Each session steps down only once, so many sessions
        // are needed.
        faults: ['reset', 'hold'],
        keptShare: 0.9,
        clients: 2,
        apps: 2,
        programs: ['locks'],
        hasUnlikeServers: true,
      },
    },
    finds: ['claim'],
    why: 'The timer of the signal stands where the longer session timeout has put it.',
    failsIn: {
      spec: 'test/unit/zookeeper/session/session.spec.ts',
      test: 'are lost in time by the shorter session timeout that a server grants',
    },
  },
  {
    name: 'lease-of-an-ended-session-is-handed-out',
    edits: [
      {
        file: 'zookeeper/recipes/wait-for-turn.js',
        replace: 'contender.isGone || !session.isProven || !turn.isNow(entry)',
        by: '!turn.isNow(entry) || (!limit.waits && (limit.waits = true) && (contender.isGone || !session.isProven))',
      },
      {
        file: 'zookeeper/session/session.js',
        replace: 'const place = this.#leases.add(lease);',
        by: 'const place = this.#leases.add(lease); if (place) return place;',
      },
      {
        file: 'service/acquisition-gate.js',
        replace: 'lease.isHeld() ? undefined : lease.signal.reason',
        by: 'undefined',
      },
    ],
    needs: { traffic: ['locks'], faults: ['expiry', 'close-from-outside'], plan: { isBusy: true } },
    finds: ['claim', 'outcomes'],
    why: 'A session that ends as its lease is granted takes it not along: the signal aborts up to a session timeout later.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/acquire.spec.ts',
      test: 'leaves when its session ends at that moment',
    },
  },
  {
    name: 'given-up-campaign-leaves-its-profile',
    edits: [
      {
        file: 'zookeeper/election/candidacy.js',
        replace: 'this.#making.then(remove, remove)',
        by: 'remove()',
      },
    ],
    needs: {
      traffic: ['election', 'try'],
      faults: ['reap', 'slow'],
      plan: { programs: ['campaign'], world: { containerCheckIntervalMs: 20 } },
    },
    finds: ['leftovers'],
    why: 'The delete goes out between the two requests that make the profile, which stays until the session ends.',
    failsIn: {
      spec: 'test/integration/given-up-campaigns.spec.ts',
      test: 'leaves no znode, whatever is under way then: %s',
    },
  },
  {
    name: 'lost-write-is-judged-by-versions',
    edits: [
      {
        file: 'zookeeper/records/record-write.js',
        replace: 'this.#mayBeApplied ||= await this.#mayHaveTakenEffect(session, signal);',
        by: '',
      },
    ],
    needs: {
      traffic: ['stock'],
      faults: ['one-way'],
      besides: 'orders that another process refunds before the sale is told',
      plan: { isBusy: true, clients: 2, services: 1 },
    },
    finds: ['stock', 'runs', 'outcomes'],
    why: 'A write that was applied is told to be refused, or made twice, when others removed the record since.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/lost-write.spec.ts',
      test: '%s, and %s by others',
    },
  },
  {
    name: 'lost-cas-is-judged-by-its-version',
    edits: [
      {
        file: 'zookeeper/coordination/cell.js',
        replace: 'ifVersion !== undefined && isUndone &&',
        by: 'ifVersion !== undefined &&',
      },
    ],
    needs: {
      traffic: ['value'],
      faults: ['one-way'],
      besides: 'a value that is removed and made anew',
      // Sessions end long before the value is out of use.
      plan: { isBusy: true, clients: 3, services: 1, world: { sessionTimeoutMs: 1_500, tickTimeMs: 200 } },
    },
    finds: ['values', 'outcomes'],
    why: 'A compareAndSet whose session was lost with the reply is made twice.',
    failsIn: {
      spec: 'test/integration/coordination/lost-sessions.spec.ts',
      test: '%s in the same version, is not made again: nobody knows',
    },
  },
  {
    name: 'used-up-numbers-beside-nested-keys-are-waited-for',
    edits: [
      FEW_NUMBERS,
      { file: COUNTER, replace: 'others.length > 0 && others.length === names.length', by: 'false' },
    ],
    needs: {
      traffic: ['locks', 'try'],
      faults: ['none'],
      besides: 'a key with another one nested below it',
      plan: { programs: ['locks'], busyKeys: ['stock', 'stock/coupons'], clients: 2 },
    },
    finds: ['refusals', 'liveness', 'outcomes'],
    why: 'The key is told to be locked by somebody else, for ever. The edit ends the numbers at 60.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/counter.spec.ts',
      test: 'is refused when no contender is left and others are, waiting or not: %s',
    },
  },
  {
    name: 'new-directory-is-taken-for-the-used-up-one',
    edits: [
      FEW_NUMBERS,
      { file: COUNTER, replace: 'if ((await madeAt(session, path, signal)) > czxid)', by: 'if (czxid < 0n)' },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['none'],
      besides: 'more than 60 acquisitions of a key',
      plan: { busyKeys: ['stock'], clients: 2 },
    },
    finds: ['liveness', 'refusals'],
    why: 'A process waits for a directory to be empty that another one has made anew, and others stand in it.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/counter.spec.ts',
      test: 'has nothing to do when the directory was made anew since, and others stand there',
    },
  },
];

/** The faults that were fixed together, planted again one by one. */
export const MENDED: readonly Defect[] = [...READERS, ...RECOVERY, ...NAMES];
