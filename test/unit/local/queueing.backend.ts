import { onAbort } from '../../../lib/async/abort.js';
import type { GrantedLease } from '../../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../../lib/contract/lock-request.js';
import { ScriptedBackend } from './scripted.backend.js';
import type { ScriptedEntry } from './scripted.backend.js';

/** A backend of one key that serves its queue by itself, one turn of the event loop after each request. */
export class QueueingBackend extends ScriptedBackend {
  override leavesAtOnce = false;

  override acquire(request: LockRequest): Promise<GrantedLease | null> {
    const answer = super.acquire(request);
    const { last } = this;
    onAbort(request.signal, () => void this.#left(last));
    void this.#later();
    return answer;
  }

  /** Serves every contender that can be served now. */
  advance(): void {
    for (const [place, entry] of this.standing.entries()) {
      const ahead = this.standing.slice(0, place).filter((other) => excludes(other, entry));
      if (entry.lease) continue;
      ahead.forEach(({ lease, demand }) => lease && demand.want());
      if (ahead.length === 0) void this.#served(entry);
      else if (!entry.request.wait) entry.decline();
    }
  }

  /** Removes an aborted contender from the queue a turn later, unless it is granted before. */
  async #left(entry: ScriptedEntry): Promise<void> {
    await new Promise(setImmediate);
    if (!entry.lease) entry.leave();
    await this.#later();
  }

  async #served(entry: ScriptedEntry): Promise<void> {
    entry.grant();
    await entry.lease?.released;
    await this.#later();
  }

  async #later(): Promise<void> {
    await new Promise(setImmediate);
    this.advance();
  }
}

function excludes({ request: one }: ScriptedEntry, { request: other }: ScriptedEntry): boolean {
  return one.mode !== 'read' || other.mode !== 'read';
}
