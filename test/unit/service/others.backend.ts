import type { Contender } from '../../../lib/contract/contender.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { BackendState, HoldersQuestion } from '../../../lib/contract/lock-backend.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { MemoryBackend } from '../../../lib/memory/memory.backend.js';

const OTHER = 'other:';

/** Locks in memory that other processes use too. It counts the requests for holders. */
export class OthersBackend extends MemoryBackend {
  readonly questions: HoldersQuestion[] = [];
  pending = 0;
  mostPending = 0;
  isConnected = true;
  /** Replaces the answer. */
  answer: ((question: HoldersQuestion) => Promise<readonly Contender[]>) | undefined;

  override get state(): BackendState {
    return this.isConnected ? 'connected' : 'suspended';
  }

  /** Acquires the key for another process. */
  async other(key: string, label: string, changes: Partial<LockRequest> = {}): Promise<GrantedLease> {
    const { signal } = new AbortController();
    const request = { key, mode: 'exclusive', line: 'fifo', wait: true, signal, label: OTHER + label } as const;
    return (await this.acquire({ ...request, ...changes })) ?? Promise.reject(new Error('not granted'));
  }

  async holdersOf(question: HoldersQuestion): Promise<readonly Contender[]> {
    this.questions.push(question);
    this.mostPending = Math.max(this.mostPending, ++this.pending);
    try {
      return await (this.answer ?? ((asked) => this.#look(asked)))(question);
    } finally {
      this.pending--;
    }
  }

  async #look({ key, of, most }: HoldersQuestion): Promise<readonly Contender[]> {
    const line = await this.lineOf(key);
    const held = line.filter(({ state, mode }) => state === 'held' && (mode === 'permit') === (of === 'permits'));
    return held.slice(0, most).map((contender) => {
      const label = contender.owner.label ?? '';
      if (!label.startsWith(OTHER)) return contender;
      return { ...contender, owner: { label: label.slice(OTHER.length), host: 'elsewhere', pid: 7 }, isOwn: false };
    });
  }
}
