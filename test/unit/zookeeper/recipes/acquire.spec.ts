import { beforeEach, describe, expect, it, vi } from 'vitest';
import { atTurn } from '../../../../lib/zookeeper/recipes/wait-for-turn.js';
import type { NodesListener } from '../../../../lib/zookeeper/recipes/held-nodes.js';
import { NodeDeletedError } from '../../../../lib/zookeeper/recipes/held-nodes.js';
import type { Session } from '../../../../lib/zookeeper/session/session.js';
import { SessionEndedError } from '../../../../lib/zookeeper/session/requests.js';

/** Only what this step of an acquisition looks at. */
class FakeSession {
  readonly end = new AbortController();
  readonly signal = this.end.signal;
  isProven = true;
  proofs = 0;

  async proven(signal: AbortSignal): Promise<void> {
    this.proofs++;
    await this.proof(signal);
    this.isProven = true;
  }

  /** Resolves when the servers have answered. */
  proof = async (_signal: AbortSignal): Promise<void> => {};

  over(): void {
    this.isProven = false;
    this.end.abort(new SessionEndedError('expired'));
  }
}

class FakeNodes {
  readonly czxid = 1n;
  isGone = false;
  readonly left = vi.fn<() => Promise<void>>(async () => {});
  #listener: NodesListener | undefined;

  listen(listener: NodesListener | undefined): void {
    this.#listener = listener;
    if (this.isGone) listener?.gone(new NodeDeletedError('/k'));
  }

  get isListenedTo(): boolean {
    return this.#listener !== undefined;
  }

  gone(): void {
    this.isGone = true;
    this.#listener?.gone(new NodeDeletedError('/k'));
  }

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

/** A turn that comes with its first change. */
class FakeTurn {
  #isNow = false;
  readonly end = vi.fn<() => void>();

  /** @param happens what else happens before the acquisition goes on */
  constructor(readonly happens = () => {}) {}

  isNow(): boolean {
    return this.#isNow;
  }

  change(): Promise<void> | undefined {
    this.#isNow = true;
    this.happens();
    return Promise.resolve();
  }
}

function acquired(turn: FakeTurn): Promise<string | null> {
  const signal = new AbortController().signal;
  const turning = { entering: Promise.resolve({ contender }), turn, releaseTimeoutMs: 100, signal };
  return atTurn(session as unknown as Session, turning, hold);
}

describe('a contender whose turn has come', () => {
  it('holds', async () => {
    const turn = new FakeTurn();
    await expect(acquired(turn)).resolves.toBe('lease');
    expect(contender.left).not.toHaveBeenCalled();
    expect(turn.end).toHaveBeenCalled();
    expect(contender.isListenedTo).toBe(false);
  });

  it('leaves when its session ends at that moment', async () => {
    await expect(acquired(new FakeTurn(() => session.over()))).rejects.toBeInstanceOf(SessionEndedError);
    expect(hold).not.toHaveBeenCalled();
    expect(contender.left).toHaveBeenCalledOnce();
  });

  it('leaves when its znode is found gone at that moment', async () => {
    const turn = new FakeTurn(() => contender.gone());
    await expect(acquired(turn)).rejects.toBeInstanceOf(NodeDeletedError);
    expect(hold).not.toHaveBeenCalled();
    expect(turn.end).toHaveBeenCalled();
    expect(contender.isListenedTo).toBe(false);
  });

  it('proves its session when that is in doubt at that moment', async () => {
    await expect(acquired(new FakeTurn(() => (session.isProven = false)))).resolves.toBe('lease');
    expect(session.proofs).toBe(1);
  });

  it('asks for no more proof once its znode is gone', async () => {
    let proving: AbortSignal | undefined;
    const turn = new FakeTurn(() => (session.isProven = false));
    session.proof = (signal) => {
      proving = signal;
      contender.gone();
      return new Promise(() => {});
    };
    await expect(acquired(turn)).rejects.toBeInstanceOf(NodeDeletedError);
    expect(proving?.aborted).toBe(true);
  });
});

describe('a contender that does not wait for its turn', () => {
  it('leaves', async () => {
    const turn = new FakeTurn();
    vi.spyOn(turn, 'change').mockReturnValue(undefined);
    await expect(acquired(turn)).resolves.toBeNull();
    expect(hold).not.toHaveBeenCalled();
    expect(contender.left).toHaveBeenCalledOnce();
    expect(turn.end).toHaveBeenCalled();
  });
});
