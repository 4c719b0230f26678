import { FAST_LINKS } from './defect.js';
import type { Defect } from './defect.js';

const CLOCK = 'zookeeper/session/lease-clock.js';
const LEASES = 'sessions/session-leases.js';
const SESSION = 'zookeeper/session/session.js';
const HEARTBEAT = 'zookeeper/session/heartbeat.js';

const clockTest = (test: string) => ({ spec: 'test/unit/zookeeper/session/lease-clock.spec.ts', test });
const sessionTest = (test: string) => ({ spec: 'test/unit/zookeeper/session/session.spec.ts', test });

/** Any answer proves the session from the time at which its request was sent. The rest of the code stays. */
const ANY_ANSWER_PROVES = {
  file: CLOCK,
  replace: 'if (isQuorum)',
  by: 'this.#provenAt = Math.max(this.#provenAt, sentAt); if (isQuorum)',
};
/** A silent link is never given up. */
const NO_SILENCE_RULE = {
  file: HEARTBEAT,
  replace: 'now() - since > this.#timeoutMs * SILENCE_SHARE',
  by: 'false',
};

/** Defects in the proof that a session exists, and until when. */
const PROOF: readonly Defect[] = [
  {
    name: 'proof-in-one-step',
    edits: [
      {
        file: CLOCK,
        replace: 'if (isQuorum)',
        by: 'if (isQuorum) this.#provenAt = Math.max(this.#provenAt, sentAt); if (isQuorum)',
      },
    ],
    needs: { traffic: ['locks'], faults: ['cut-off'] },
    finds: ['claim', 'exclusion'],
    why: 'A transaction through a follower renews no session: the leader last heard of it up to half a tick before.',
    failsIn: clockTest('is not moved by a quorum answer alone'),
  },
  {
    name: 'proof-from-the-reply-in-two-steps',
    edits: [{ file: CLOCK, replace: 'proven?.sentAt', by: 'proven?.receivedAt' }],
    needs: { traffic: ['locks'], faults: ['hold'] },
    finds: ['claim', 'exclusion'],
    why: 'The time of a slow answer is counted twice, and the lease outlives the session by it.',
    failsIn: clockTest('does not count from a ping’s answer, nor from the quorum answer itself'),
  },
  {
    name: 'proof-from-the-reply-in-one-step',
    edits: [
      {
        file: CLOCK,
        replace: 'if (isQuorum)',
        by: 'if (isQuorum) this.#provenAt = Math.max(this.#provenAt, receivedAt); if (isQuorum)',
      },
    ],
    needs: { traffic: ['locks'], faults: ['slow', 'hold'] },
    finds: ['claim', 'exclusion'],
    why: 'As Java clients do it: the time-out begins when the last answer came.',
    failsIn: clockTest('is not moved by a quorum answer alone'),
  },
  {
    name: 'any-answer-proves',
    edits: [ANY_ANSWER_PROVES],
    needs: { traffic: ['locks'], faults: ['cut-off'] },
    finds: ['claim', 'exclusion'],
    why: 'A follower answers reads by itself, although it has lost its leader.',
    failsIn: clockTest('is not moved by pings alone, however many are answered'),
  },
  {
    name: 'any-answer-proves-and-silence-is-borne',
    edits: [ANY_ANSWER_PROVES, NO_SILENCE_RULE],
    needs: { traffic: ['locks'], faults: ['cut-off'] },
    finds: ['claim', 'exclusion'],
    why: 'As above, on a link whose transactions are without an answer.',
    failsIn: clockTest('is not moved by pings alone, however many are answered'),
  },
  {
    name: 'pings-beside-the-transactions-prove',
    edits: [
      ANY_ANSWER_PROVES,
      NO_SILENCE_RULE,
      {
        file: HEARTBEAT,
        replace: 'this.#lastBeatAt = now();',
        by: 'this.#lastBeatAt = now(); this.#client.ping();',
      },
    ],
    needs: { traffic: ['locks'], faults: ['cut-off'] },
    finds: ['claim', 'exclusion'],
    why: 'A follower that is cut off goes on answering pings until its own time-out, and the holder goes on believing.',
    failsIn: clockTest('is not moved by pings alone, however many are answered'),
  },
  {
    name: 'no-delta-between-the-steps',
    edits: [{ file: CLOCK, replace: 'this.#timeoutMs * DELTA_SHARE', by: 'this.#timeoutMs * 0' }],
    needs: { traffic: ['locks'], faults: ['cut-off'] },
    finds: ['claim', 'exclusion'],
    why: 'The follower has not told the leader of the first request yet when the second is answered.',
    failsIn: clockTest('is not moved by a quorum answer whose request was sent a moment sooner'),
  },
  {
    name: 'reattached-handshake-counts-at-once',
    edits: [
      {
        file: CLOCK,
        replace: 'this.#handshake = { timeoutMs, sentAt, receivedAt };',
        by: 'this.#handshake = { timeoutMs, sentAt, receivedAt }; this.#provenAt = Math.max(this.#provenAt, sentAt);',
      },
    ],
    needs: {
      traffic: ['locks'],
      faults: ['reset', 'leader-change'],
      besides: 'a former leader that goes on for a while',
      plan: { faults: ['cut-off', 'reset', 'freeze'] },
    },
    finds: ['claim', 'exclusion'],
    why: 'A leader that has been replaced, and does not know, takes the session up again.',
    failsIn: clockTest('does not count a handshake that takes the session up again, until a transaction is answered'),
  },
  {
    name: 'longer-timeout-counts-at-once',
    edits: [{ file: CLOCK, replace: 'Math.min(this.#timeoutMs, timeoutMs)', by: 'timeoutMs' }],
    needs: {
      traffic: ['locks'],
      faults: ['reset', 'leader-change'],
      besides: 'servers that grant different timeouts',
      plan: { isInCompany: true, hasUnlikeServers: true },
    },
    finds: ['claim', 'exclusion'],
    why: 'The longer session timeout was promised by a server that may not be in the ensemble any more.',
    failsIn: clockTest('promises no longer session timeout than the last proven one, until a transaction is answered'),
  },
  {
    name: 'shorter-timeout-counts-once-proven',
    edits: [{ file: CLOCK, replace: 'Math.min(this.#timeoutMs, timeoutMs)', by: 'this.#timeoutMs' }],
    needs: {
      traffic: ['locks'],
      faults: ['reset', 'hold'],
      besides: 'servers that grant different timeouts',
      plan: { isInCompany: true, hasUnlikeServers: true },
    },
    finds: ['claim', 'exclusion'],
    why: 'The servers end the session after the shorter time, and the holder still counts the longer one.',
    failsIn: clockTest('takes a shorter session timeout at its word'),
  },
];

/** Defects in the deadline of a lease. */
const DEADLINE: readonly Defect[] = [
  {
    name: 'no-margin-for-clock-rates',
    edits: [{ file: LEASES, replace: ' * (1 - RATE_SHARE)', by: '' }],
    needs: { traffic: ['locks'], faults: ['clock-rate', 'hold'] },
    finds: ['claim', 'exclusion'],
    why: 'The leader’s clock is faster than the holder’s, and the session ends before the lease.',
    failsIn: clockTest('gives a session of %d ms %d ms from the moment the handshake was sent'),
  },
  {
    name: 'no-slack-for-timers',
    edits: [{ file: LEASES, replace: ' - TIMER_SLACK_MS', by: '' }],
    needs: {
      traffic: ['locks'],
      faults: ['clock-rate', 'hold'],
      besides: 'a leader whose clock is faster by the full 2 %',
    },
    finds: ['claim', 'exclusion'],
    why: 'A timer that fires a little late tells the holder when another one already works.',
    failsIn: clockTest('gives a session of %d ms %d ms from the moment the handshake was sent'),
  },
  {
    name: 'no-margin-at-all',
    edits: [{ file: LEASES, replace: ' * (1 - RATE_SHARE) - TIMER_SLACK_MS', by: '' }],
    needs: { traffic: ['locks'], faults: ['clock-rate', 'hold'] },
    finds: ['claim', 'exclusion'],
    why: 'The lease lasts as long as the session on a clock that nobody else has.',
    failsIn: clockTest('gives a session of %d ms %d ms from the moment the handshake was sent'),
  },
  {
    name: 'deadline-ten-percent-late',
    edits: [{ file: LEASES, replace: ' * (1 - RATE_SHARE)', by: ' * 1.1' }],
    needs: { traffic: ['locks'], faults: ['hold'] },
    finds: ['claim', 'exclusion'],
    why: 'The margin has the wrong sign: the holder believes beyond the end of the session.',
    failsIn: clockTest('gives a session of %d ms %d ms from the moment the handshake was sent'),
  },
  {
    name: 'session-clock-never-runs-out',
    edits: [
      { file: SESSION, replace: 'now() < this.#clock.deadline', by: 'true' },
      { file: LEASES, replace: 'this.#deadline() <= now()', by: 'false' },
      { file: LEASES, replace: 'Math.max(0, this.#deadline() - now())', by: '2 ** 31 - 1' },
    ],
    needs: { traffic: ['locks'], faults: ['hold'] },
    finds: ['exclusion', 'fencing tokens', 'claim'],
    why: 'As node-zookeeper-client: a lease ends when a server says so, which a server out of reach does not.',
    failsIn: sessionTest('is current until its deadline by the clock, without an event'),
  },
  {
    name: 'lease-begins-on-an-unproven-session',
    edits: [
      { file: SESSION, replace: 'this.#clock.deadline - now() >= this.#clock.timeoutMs * FRESH_SHARE', by: 'true' },
      {
        file: 'service/acquisition-gate.js',
        replace: 'lease.isHeld() ? undefined : lease.signal.reason',
        by: 'undefined',
      },
    ],
    needs: { traffic: ['locks'], faults: ['stop'] },
    finds: ['claim', 'outcomes'],
    why: 'A process that stood still is handed a lease whose time was over before it woke up.',
    failsIn: sessionTest('asks the servers until there is'),
  },
  {
    name: 'grant-is-not-looked-at-again',
    edits: [
      {
        file: 'zookeeper/recipes/wait-for-turn.js',
        replace: 'contender.isGone || !session.isProven || !turn.isNow(entry)',
        by: '!turn.isNow(entry)',
      },
      {
        file: 'service/acquisition-gate.js',
        replace: 'lease.isHeld() ? undefined : lease.signal.reason',
        by: 'undefined',
      },
    ],
    needs: { traffic: ['locks'], faults: ['stop'] },
    finds: ['claim', 'outcomes'],
    why: 'A grant that lay in a socket while the process stood still is reported as if it had just been made.',
    failsIn: {
      spec: 'test/unit/zookeeper/recipes/acquire.spec.ts',
      test: 'proves its session when that is in doubt at that moment',
    },
  },
];

/** Defects in how a holder is notified of the end of its lease, and in the clock used for it. */
const TELLING: readonly Defect[] = [
  {
    name: 'held-unless-an-event-says-otherwise',
    edits: [{ file: 'contract/granted-lease.js', replace: 'if (this.#grant.isCurrent())', by: 'if (this.#grant)' }],
    needs: { traffic: ['locks'], faults: ['stop'] },
    finds: ['claim', 'exclusion', 'fencing tokens'],
    why: 'A process that wakes up asks before its timers have run, and is told that it still holds.',
    failsIn: {
      spec: 'test/unit/contract/granted-lease.spec.ts',
      test: 'is lost by the very question that finds its time over, before any event',
    },
  },
  {
    name: 'clock-stops-with-the-machine',
    edits: [{ file: 'async/clock.js', replace: 'if (ahead > SLEPT_MS)', by: 'if (ahead > Infinity)' }],
    needs: { traffic: ['locks'], faults: ['suspend'] },
    finds: ['claim', 'exclusion', 'fencing tokens'],
    why: 'The monotonic clock stands still while a laptop or a virtual machine is suspended; the leader’s does not.',
    failsIn: {
      spec: 'test/unit/async/clock.spec.ts',
      test: 'counts the time in which the monotonic clock stood still, once',
    },
  },
  {
    name: 'leases-go-by-the-wall-clock',
    edits: [{ file: 'async/clock.js', replace: 'return newMonotonic + slept;', by: 'return newWall;' }],
    needs: { traffic: ['locks'], faults: ['wall-jump', 'hold'] },
    finds: ['claim', 'exclusion', 'fencing tokens'],
    why: 'As Curator’s timer: somebody sets the clock back, and the lease lasts longer by as much.',
    failsIn: { spec: 'test/unit/async/clock.spec.ts', test: 'does not go back when the wall clock is set back' },
  },
  {
    name: 'loss-is-not-told-to-the-callers-inside',
    edits: [
      {
        file: 'local/shared-lease.js',
        replace: 'this.#holders.members.forEach((lease) => lease.lose(reason));',
        by: '',
      },
    ],
    needs: { traffic: ['locks'], faults: ['hold'], plan: { localLine: true, keptShare: 0.4 } },
    finds: ['claim'],
    why: 'The signal of a lease that the process hands on never aborts, and the work under it goes on.',
    failsIn: {
      spec: 'test/unit/local/shared-lease.spec.ts',
      test: 'are all lost together',
    },
  },
  {
    name: 'silent-link-is-kept',
    edits: [NO_SILENCE_RULE],
    needs: { traffic: ['locks'], faults: ['freeze'], plan: { keptShare: 0.9, world: { link: FAST_LINKS } } },
    finds: ['liveness'],
    why: 'A client stays with a server that stands still, although others would serve it.',
    failsIn: {
      spec: 'test/unit/zookeeper/session/heartbeat.spec.ts',
      test: 'is given up after a third of the session timeout and by the next twelfth',
    },
  },
  {
    name: 'deleted-znode-is-not-noticed',
    edits: [
      { file: 'zookeeper/recipes/own-node-watch.js', replace: 'contender.foundGone();', by: 'void 0;' },
      { file: HEARTBEAT, replace: 'error === ErrorCode.noNode && place', by: 'false' },
    ],
    needs: { traffic: ['locks'], faults: ['delete-node'], plan: { keptShare: 0.4 } },
    finds: ['exclusion', 'fencing tokens'],
    why: 'Somebody deletes a holder’s znode, the next one is let in, and the holder works on.',
    failsIn: {
      spec: 'test/unit/zookeeper/session/session.spec.ts',
      test: 'is told to be gone when a heartbeat finds that',
    },
  },
];

/** Defects in time: what other clients do, and mistakes that are easy to make. */
export const LEASE_CLOCK: readonly Defect[] = [...PROOF, ...DEADLINE, ...TELLING];
