import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { LeaseClock } from '../../../../lib/zookeeper/session/lease-clock.js';

const T = 10_000;
const GRAIN = T / 100;
/** The deadline of a proof at `provenAt`: T, less 2 % for clock rates and 15 ms for timers. */
const deadlineOf = (provenAt: number, timeoutMs = T) => provenAt + timeoutMs * 0.98 - 15;

const ping = { isQuorum: false };
const quorum = { isQuorum: true };

/** The rule in its plainest form: every answer is kept, and every quorum answer checks all of them. */
class ReferenceClock {
  readonly #answers: { readonly sentAt: number; readonly receivedAt: number }[] = [];
  readonly #handshakes: { readonly sentAt: number; readonly receivedAt: number }[] = [];
  #provenAt: number;

  constructor(provenAt: number) {
    this.#provenAt = provenAt;
  }

  get deadline(): number {
    return deadlineOf(this.#provenAt);
  }

  reattached(_timeoutMs: number, sentAt: number, receivedAt: number): void {
    this.#handshakes.push({ sentAt, receivedAt });
  }

  answered(sentAt: number, receivedAt: number, isQuorum: boolean): void {
    const earlier = [
      ...this.#answers.filter((answer) => answer.receivedAt <= sentAt - T / 4),
      ...this.#handshakes.filter((handshake) => handshake.receivedAt <= sentAt),
    ];
    if (isQuorum) this.#provenAt = Math.max(this.#provenAt, ...earlier.map((answer) => answer.sentAt));
    this.#answers.push({ sentAt, receivedAt });
  }
}

interface Step {
  readonly kind: 'ping' | 'quorum' | 'handshake';
  /** The time since the last request was sent. */
  readonly gapMs: number;
  /** The time until the answer, unless an earlier answer arrives even later. */
  readonly tripMs: number;
}

const stepsOf = (gapMs: fc.Arbitrary<number>, tripMs: fc.Arbitrary<number>) =>
  fc.array(fc.record({ kind: fc.constantFrom<Step['kind'][]>('ping', 'ping', 'quorum', 'handshake'), gapMs, tripMs }), {
    maxLength: 60,
  });

/**
 * Runs the steps on both clocks. Answers arrive in the order of the requests. A handshake begins a connection: it
 * follows all answers of the last connection, and precedes all requests of its own.
 */
function run(steps: readonly Step[], look: (clock: LeaseClock, reference: ReferenceClock, sentAt: number) => void) {
  const clock = new LeaseClock(T, 0);
  const reference = new ReferenceClock(0);
  let sentAt = 0;
  let receivedAt = 0;
  for (const { kind, gapMs, tripMs } of steps) {
    sentAt = (kind === 'handshake' ? receivedAt : sentAt) + gapMs;
    receivedAt = Math.max(receivedAt, sentAt + tripMs);
    for (const each of [clock, reference]) {
      if (kind === 'handshake') each.reattached(T, sentAt, receivedAt);
      else each.answered(sentAt, receivedAt, kind === 'quorum');
    }
    if (kind === 'handshake') sentAt = receivedAt;
    look(clock, reference, sentAt);
  }
}

describe('the lease clock', () => {
  let clock: LeaseClock;
  const answer = (sentAt: number, { isQuorum }: { isQuorum: boolean }, receivedAt = sentAt) =>
    clock.answered(sentAt, receivedAt, isQuorum);

  beforeEach(() => {
    clock = new LeaseClock(T, 1_000);
  });

  it.each([
    [10_000, 9_785],
    [2_000, 1_945],
  ])('gives a session of %d ms %d ms from the moment the handshake was sent', (timeoutMs, leaseMs) => {
    expect(new LeaseClock(timeoutMs, 500).deadline).toBe(500 + leaseMs);
  });

  it('does not count a handshake that takes the session up again, until a transaction is answered', () => {
    clock.reattached(T, 4_000, 4_100);
    expect(clock.deadline).toBe(deadlineOf(1_000));
    answer(4_200, ping);
    expect(clock.deadline).toBe(deadlineOf(1_000));
    answer(4_300, quorum);
    expect(clock.deadline).toBe(deadlineOf(4_000));
  });

  it('does not count it for a transaction that was sent before its answer', () => {
    clock.reattached(T, 4_000, 4_100);
    answer(4_099, quorum);
    expect(clock.deadline).toBe(deadlineOf(1_000));
    answer(4_100, quorum);
    expect(clock.deadline).toBe(deadlineOf(4_000));
  });

  it('counts the last of several handshakes', () => {
    clock.reattached(T, 4_000, 4_100);
    clock.reattached(T, 5_000, 5_100);
    answer(5_200, quorum);
    expect(clock.deadline).toBe(deadlineOf(5_000));
  });

  it('is not set back by a handshake that was sent earlier', () => {
    clock.reattached(T, 500, 600);
    answer(700, quorum);
    expect(clock.deadline).toBe(deadlineOf(1_000));
  });

  it('takes a shorter session timeout at its word', () => {
    clock.reattached(T / 2, 4_000, 4_100);
    expect(clock.timeoutMs).toBe(T / 2);
    expect(clock.deadline).toBe(deadlineOf(1_000, T / 2));
    answer(4_200, quorum);
    expect(clock.deadline).toBe(deadlineOf(4_000, T / 2));
  });

  it('promises no longer session timeout than the last proven one, until a transaction is answered', () => {
    clock.reattached(T / 2, 4_000, 4_100);
    answer(4_200, quorum);
    clock.reattached(T, 5_000, 5_100);
    expect(clock.deadline).toBe(deadlineOf(4_000, T / 2));
    answer(5_200, quorum);
    expect(clock.deadline).toBe(deadlineOf(5_000, T));
  });

  it('promises no longer session timeout than the session was made with: a new leader knows of no other', () => {
    clock.reattached(2 * T, 4_000, 4_100);
    answer(4_200, quorum);
    expect(clock.timeoutMs).toBe(T);
    expect(clock.deadline).toBe(deadlineOf(4_000));
  });

  it('is not moved by pings alone, however many are answered', () => {
    for (let sentAt = 1_000; sentAt < 60_000; sentAt += 500) answer(sentAt, ping);
    expect(clock.deadline).toBe(deadlineOf(1_000));
  });

  it('is not moved by a quorum answer alone', () => {
    answer(9_000, quorum);
    expect(clock.deadline).toBe(deadlineOf(1_000));
  });

  it('moves to a ping’s send time by a quorum answer requested T/4 after the ping’s answer', () => {
    answer(2_000, ping, 2_100);
    answer(2_100 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(2_000));
  });

  it('is not moved by a quorum answer whose request was sent a moment sooner', () => {
    answer(2_000, ping, 2_100);
    answer(2_099 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(1_000));
  });

  it('does not count from a ping’s answer, nor from the quorum answer itself', () => {
    answer(2_000, ping, 5_000);
    answer(8_000, quorum, 8_500);
    expect(clock.deadline).toBe(deadlineOf(2_000));
  });

  it('moves to the latest proven request', () => {
    for (const sentAt of [2_000, 3_000, 4_000, 5_000]) answer(sentAt, ping);
    answer(4_500 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(4_000));
  });

  it('accepts an earlier quorum answer for the first step, too', () => {
    answer(2_000, quorum);
    answer(2_000 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(2_000));
  });

  it('keeps unproven requests for the next quorum answer', () => {
    answer(2_000, ping);
    answer(4_000, ping);
    answer(2_000 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(2_000));
    answer(4_000 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(4_000));
  });

  it('is not set back by an answer from before the last handshake', () => {
    answer(2_000, ping);
    clock.reattached(T, 6_000, 6_100);
    answer(6_200, quorum);
    answer(2_000 + T / 4, quorum);
    expect(clock.deadline).toBe(deadlineOf(6_000));
  });

  it('follows regular heartbeats, at most T/4 and two beats behind', () => {
    const beatMs = T / 6;
    for (let sentAt = 1_000; sentAt < 200_000; sentAt += beatMs) {
      answer(sentAt, quorum, sentAt + 20);
      expect(clock.deadline).toBeGreaterThan(deadlineOf(sentAt - T / 4 - 2 * beatMs));
    }
  });
});

describe('the lease clock compared with the reference rule', () => {
  const anyGap = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: T / 2 }));
  const anyTrip = fc.oneof(fc.nat({ max: 20 }), fc.nat({ max: T }));
  const epsilon = 1e-6;

  it('never promises more, whatever is sent and however late it is answered', () => {
    fc.assert(
      fc.property(stepsOf(anyGap, anyTrip), (steps) =>
        run(steps, (clock, reference) => {
          expect(clock.deadline).toBeLessThanOrEqual(reference.deadline + epsilon);
        }),
      ),
      { numRuns: 500 },
    );
  });

  it('never moves back', () => {
    fc.assert(
      fc.property(stepsOf(anyGap, anyTrip), (steps) => {
        let last = -Infinity;
        run(steps, (clock) => {
          expect(clock.deadline).toBeGreaterThanOrEqual(last);
          last = clock.deadline;
        });
      }),
    );
  });

  it('promises exactly as much when answers are far enough apart', () => {
    const gap = fc.integer({ min: GRAIN + 1, max: T / 2 });
    fc.assert(
      fc.property(stepsOf(gap, fc.constant(7)), (steps) =>
        run(steps, (clock, reference) => {
          expect(clock.deadline).toBeCloseTo(reference.deadline, 6);
        }),
      ),
      { numRuns: 500 },
    );
  });

  it('promises at most a hundredth of T less when answers are close together', () => {
    fc.assert(
      fc.property(stepsOf(anyGap, fc.constant(7)), (steps) =>
        run(steps, (clock, reference, sentAt) => {
          expect(clock.deadline).toBeGreaterThanOrEqual(Math.min(reference.deadline - GRAIN - epsilon, sentAt));
        }),
      ),
      { numRuns: 500 },
    );
  });
});
