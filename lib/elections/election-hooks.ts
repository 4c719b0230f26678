import { Logger } from '@nestjs/common';
import type { Term } from '../contract/elections.js';
import type { Office } from './office.js';

/** Something that an application does when it is elected, or when its term is over. */
export interface ElectionHook {
  /** `@OnElected on Poller.begin`, for messages. */
  readonly title: string;
  /** Whose it is: who was not told that a term has begun is not told that it is over. */
  readonly owner: object;
  call(term: Term): unknown;
}

const logger = new Logger('LeaderElection');

/** What an application does at both ends of its terms in one election: one hook after the other, in the order found. */
export class ElectionHooks {
  readonly #elected: ElectionHook[] = [];
  readonly #deposed: ElectionHook[] = [];

  add(when: 'elected' | 'deposed', hook: ElectionHook): void {
    (when === 'elected' ? this.#elected : this.#deposed).push(hook);
  }

  /**
   * Never rejects. Those whose turn comes when the term is over, or is to end, are not called.
   * @returns those who were left out: that the term is over is none of their business
   */
  async elected(office: Office): Promise<ReadonlySet<object>> {
    const told = new Set<object>();
    for (const hook of this.#elected) {
      if (!office.mayBegin) continue;
      told.add(hook.owner);
      await called(hook, office);
    }
    return new Set(this.#elected.map(({ owner }) => owner).filter((owner) => !told.has(owner)));
  }

  /** Never rejects. */
  async deposed(office: Office, leftOut: ReadonlySet<object>): Promise<void> {
    for (const hook of this.#deposed) if (!leftOut.has(hook.owner)) await called(hook, office);
  }
}

function called(hook: ElectionHook, office: Office): Promise<void> {
  return logged(hook, () => office.enclose(() => hook.call(office.seen)));
}

async function logged({ title }: ElectionHook, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    logger.error(`${title} has failed`, error instanceof Error ? error.stack : String(error));
  }
}
