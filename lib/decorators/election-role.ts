import { Logger } from '@nestjs/common';
import type { ElectionHook } from '../elections/election-hooks.js';
import { leadershipsOf } from '../elections/leaderships.js';
import type { Leadership } from '../elections/leadership.js';
import { check } from '../contract/check.js';
import { LockConfigurationError } from '../contract/errors.js';
import { checkKey } from '../contract/key.js';
import type { LockService } from '../service/lock.service.js';
import { isOverriddenIn } from './decorated-place.js';
import type { DecoratedPlace } from './decorated-place.js';

/**
 * The part of a decorated method in an election: work of the leader only, or a hook at the beginning or end of a term.
 */
export type ElectionPart = 'work' | 'elected' | 'deposed';

const logger = new Logger('LeaderElection');

/** A method that takes part in an election, in its class and in every subclass. */
export class ElectionRole {
  readonly #at: DecoratedPlace;
  readonly #election: string;
  readonly #part: ElectionPart;
  readonly #warnedOf = new WeakSet<object>();

  /** @throws LockConfigurationError for a name that is not valid for an election */
  constructor(at: DecoratedPlace, election: string, part: ElectionPart) {
    check(typeof election === 'string' && election !== '', `${at.title}: the name`, election, 'text that is not empty');
    checkKey(election, `${at.title}: the name`);
    this.#at = at;
    this.#election = election;
    this.#part = part;
  }

  /** The application's part in the election. @throws LockConfigurationError when the connection has none */
  leadershipOn(locks: LockService): Leadership {
    const leaderships = leadershipsOf(locks);
    if (leaderships) return leaderships.of(this.#election, this.#at.title);
    throw new LockConfigurationError(
      `${this.#at.title}: its LockService was not made by LockModule, so it did not run`,
    );
  }

  /**
   * Makes the application take part for this instance, unless its class overrides the method. A hook would then be the
   * overriding method. Work that is never called as `super.method()` would run nowhere while this application leads.
   * @throws LockConfigurationError when it cannot
   */
  join(locks: LockService, instance: object): void {
    if (isOverriddenIn(instance, this.#at)) return this.#warnOfOverridden(Object.getPrototypeOf(instance));
    const leadership = this.leadershipOn(locks);
    if (this.#part !== 'work') leadership.hooks.add(this.#part, this.#hookOf(instance));
  }

  #warnOfOverridden(prototype: object): void {
    if (this.#warnedOf.has(prototype)) return;
    this.#warnedOf.add(prototype);
    const { title } = this.#at;
    const [decorator] = title.split(' ');
    const how = `${prototype.constructor.name}, which overrides the method without ${decorator}`;
    logger.warn(
      this.#part === 'work'
        ? `${title} makes no application campaign for ${how}, before super is called there: ` +
            'put it above the overriding method, too, to campaign from the start'
        : `${title} is not called for ${how}: put it above the overriding method, too`,
    );
  }

  #hookOf(instance: object): ElectionHook {
    const { title, name } = this.#at;
    return { title, owner: instance, call: (term) => Reflect.apply(Reflect.get(instance, name), instance, [term]) };
  }
}
