import { Logger } from '@nestjs/common';
import type { Term } from '../contract/elections.js';
import type { LeaderTerm } from './leader-term.js';

/** A function that an application calls when it is elected, or when its term is over. */
export interface ElectionHook {
  /** The title for messages, such as `@OnElected on Poller.begin`. */
  readonly title: string;
  /**
   * The instance that the hook belongs to. An owner that was not notified of a term's beginning is not notified of its
   * end.
   */
  readonly owner: object;
  call(term: Term): unknown;
}

const logger = new Logger('LeaderElection');

/**
 * The hooks of an application at both ends of its terms in one election. They run one after the other, in the order
 * found.
 */
export class ElectionHooks {
  readonly #elected: ElectionHook[] = [];
  readonly #deposed: ElectionHook[] = [];

  add(when: 'elected' | 'deposed', hook: ElectionHook): void {
    (when === 'elected' ? this.#elected : this.#deposed).push(hook);
  }

  /**
   * Calls the hooks of a term's beginning. Never rejects. A hook whose turn comes when the term is over, or is to end,
   * is not called.
   * @returns the owners that were left out: they are not notified of the term's end
   */
  async elected(leaderTerm: LeaderTerm): Promise<ReadonlySet<object>> {
    const told = new Set<object>();
    for (const hook of this.#elected) {
      if (!leaderTerm.mayBegin) continue;
      told.add(hook.owner);
      await called(hook, leaderTerm);
    }
    return new Set(this.#elected.map(({ owner }) => owner).filter((owner) => !told.has(owner)));
  }

  /** Calls the hooks of a term's end. Never rejects. */
  async deposed(leaderTerm: LeaderTerm, leftOut: ReadonlySet<object>): Promise<void> {
    for (const hook of this.#deposed) if (!leftOut.has(hook.owner)) await called(hook, leaderTerm);
  }
}

function called(hook: ElectionHook, leaderTerm: LeaderTerm): Promise<void> {
  return logged(hook, () => leaderTerm.enclose(() => hook.call(leaderTerm.seen)));
}

async function logged({ title }: ElectionHook, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    logger.error(`${title} has failed`, error instanceof Error ? error.stack : String(error));
  }
}
