import { beforeEach, describe, expect, it, vi } from 'vitest';
import { atTurn } from '../../../../lib/zookeeper/recipes/wait-for-turn.js';
import type { GoneListener } from '../../../../lib/zookeeper/recipes/held-nodes.js';
import { NodeDeletedError } from '../../../../lib/zookeeper/recipes/held-nodes.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';
import { SessionEndedError } from '../../../../lib/zookeeper/session/requests.js';

/** The part of a session that this step of an acquisition uses. */
class FakeSession {
  readonly end = new AbortController();
  readonly signal = this.end.signal;
  isProven = true;
  proofs = 0;

  async proven(): Promise<void> {
    this.proofs++;
    this.isProven = true;
  }

  over(): void {
    this.isProven = false;
    this.end.abort(new SessionEndedError('expired'));
  }
}

class FakeNodes {
  readonly czxid = 1n;
  isGone = false;
  readonly left = vi.fn<() => Promise<void>>(async () => {});
  /**
   * Called when it is the contender's turn. From then until it holds, there is no listener for the loss of its znode.
   */
  betweenTurnAndHold = () => {};
  #onGone: GoneListener | undefined;

  onGone(listener: GoneListener | undefined): void {
    this.#onGone = listener;
    if (this.isGone) listener?.(new NodeDeletedError('/k'));
    const happens = this.betweenTurnAndHold;
    if (listener) return;
    this.betweenTurnAndHold = () => {};
    happens();
  }

  gone(): void {
    this.isGone = true;
    this.#onGone?.(new NodeDeletedError('/k'));
  }

  onRevoked(): void {}

  leave(): Promise<void> {
    return this.left();
  }
}

let session: FakeSession;
let contender: FakeNodes;
const hold = vi.fn<() => string>(() => 'lease');

beforeEach(() => {
  session = new FakeSession();
  contender = new FakeNodes();
  hold.mockClear();
});

function acquired(): Promise<string | null> {
  const turn = { isNow: () => false, comes: async () => true };
  const signal = new AbortController().signal;
  const turning = { entering: Promise.resolve({ contender }), turn, releaseTimeoutMs: 100, signal };
  return atTurn(session as unknown as Session, turning, hold);
}

describe('a contender whose turn has come', () => {
  it('holds', async () => {
    await expect(acquired()).resolves.toBe('lease');
    expect(contender.left).not.toHaveBeenCalled();
  });

  it('leaves when its session ends in that very moment', async () => {
    contender.betweenTurnAndHold = () => session.over();
    await expect(acquired()).rejects.toBeInstanceOf(SessionEndedError);
    expect(hold).not.toHaveBeenCalled();
    expect(contender.left).toHaveBeenCalledOnce();
  });

  it('leaves when its znode is found missing at that moment', async () => {
    contender.betweenTurnAndHold = () => contender.gone();
    await expect(acquired()).rejects.toBeInstanceOf(NodeDeletedError);
    expect(hold).not.toHaveBeenCalled();
  });

  it('proves its session once more when that stood still in that very moment', async () => {
    contender.betweenTurnAndHold = () => (session.isProven = false);
    await expect(acquired()).resolves.toBe('lease');
    expect(session.proofs).toBe(2);
  });
});
