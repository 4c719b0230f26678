import { Logger } from '@nestjs/common';
import type { Term } from '../contract/term.js';
import type { Office } from './office.js';

/** Something that an application does when it is elected, or when its term is over. */
export interface ElectionHook {
  /** `@OnElected on Poller.begin`, for messages. */
  readonly title: string;
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

  /** Never rejects. Those whose turn comes when the term is over are not called. */
  async elected(office: Office): Promise<void> {
    for (const hook of this.#elected) {
      if (office.term.isHeld()) await logged(hook, () => office.enclose(() => hook.call(office.seen)));
    }
  }

  /** Never rejects. */
  async deposed(office: Office): Promise<void> {
    for (const hook of this.#deposed) await logged(hook, () => office.enclose(() => hook.call(office.seen)));
  }
}

async function logged({ title }: ElectionHook, call: () => Promise<unknown>): Promise<void> {
  try {
    await call();
  } catch (error) {
    logger.error(`${title} has failed`, error instanceof Error ? error.stack : String(error));
  }
}
