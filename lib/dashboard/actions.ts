import { BadRequestException, ConflictException, Logger, NotFoundException } from '@nestjs/common';
import type { LeaderElectionService } from '../elections/leader-election.service.js';
import type { CronRunsService } from '../schedule/cron-runs.service.js';
import type { LockService } from '../service/lock.service.js';
import type { DashboardAction, ShownRevocation } from './answers.js';
import type { KeyNames } from './key-names.js';
import type { ObservedConnection } from './observed-connection.js';
import { shownText } from './shown-text.js';

const LONGEST_GRACE_MS = 60_000;

/** The services that actions call. */
export interface ActionServices {
  readonly locks: LockService;
  readonly elections: () => LeaderElectionService;
  readonly runs: () => CronRunsService;
}

/** An action as it was requested. */
interface Asked {
  readonly body: Readonly<Record<string, unknown>>;
  readonly who: string | undefined;
}

/**
 * The actions of the page on one connection. Each leaves a line in the log and an event. Only one revocation is under way
 * at a time, and the shutdown aborts it.
 */
export class DashboardActions {
  readonly #services: ActionServices;
  readonly #observed: ObservedConnection;
  readonly #names: KeyNames;
  readonly #signal: AbortSignal;
  readonly #logger = new Logger('LockDashboard');
  #revocation: ShownRevocation | null = null;

  constructor(services: ActionServices, observed: ObservedConnection, names: KeyNames, signal: AbortSignal) {
    this.#services = services;
    this.#observed = observed;
    this.#names = names;
    this.#signal = signal;
  }

  /** The revocation that is under way. */
  get revocation(): ShownRevocation | null {
    return this.#revocation;
  }

  /**
   * Does what was asked for. A revocation is only begun, because its holders have time to let go.
   * @throws BadRequestException, NotFoundException, ConflictException
   */
  async run(action: DashboardAction, asked: Asked): Promise<void> {
    switch (action) {
      case 'revoke':
        return this.#revoke(asked);
      case 'resign':
        return this.#resign(asked);
      case 'forget':
        return this.#forget(asked);
    }
  }

  #revoke({ body, who }: Asked): void {
    const key = this.#keyOf(body);
    const { graceMs } = body;
    if (typeof graceMs !== 'number' || !(graceMs >= 0 && graceMs <= LONGEST_GRACE_MS)) {
      throw new BadRequestException(`graceMs must be a number of milliseconds, from 0 to ${LONGEST_GRACE_MS}`);
    }
    if (this.#revocation) throw new ConflictException('another revocation is under way');
    this.#tell('revoke', key, who, `grace ${graceMs} ms`);
    this.#revocation = { id: this.#names.idOf(key), key: this.#names.shown(key), since: Date.now(), graceMs };
    void this.#services.locks
      .revoke(key, { graceMs, signal: this.#signal })
      .then(
        () => this.#note(key, 'the key was revoked, and its holders are gone', 'info'),
        (error: unknown) => this.#note(key, `the revocation failed: ${this.#names.faultOf(error)}`, 'warn'),
      )
      .finally(() => (this.#revocation = null));
  }

  async #resign({ body, who }: Asked): Promise<void> {
    const name = this.#keyOf(body);
    const elections = this.#services.elections();
    if (!elections.term(name)) throw new ConflictException('this instance does not lead');
    this.#tell('resign', name, who);
    await elections.resign(name);
  }

  async #forget({ body, who }: Asked): Promise<void> {
    const { id } = body;
    if (typeof id !== 'string' || id === '') throw new BadRequestException('id must be the key of a job');
    const key = this.#keyOf(body);
    this.#tell('forget', key, who);
    if (!(await this.#services.runs().forget(key))) throw new NotFoundException('the job has no record');
  }

  #keyOf({ id }: Asked['body']): string {
    const key = typeof id === 'string' && id !== '' ? this.#names.keyOf(id) : undefined;
    if (key === undefined) throw new NotFoundException('no key is known by this id');
    return key;
  }

  #tell(action: DashboardAction, key: string, who: string | undefined, details?: string): void {
    const by = who === undefined ? '' : ` by ${shownText(who)}`;
    const more = details === undefined ? '' : `, ${details}`;
    this.#logger.warn(`${action} of "${shownText(key)}"${by}${more}`);
    this.#note(key, `${action}${by}${more}`, 'warn');
  }

  #note(key: string, what: string, level: 'info' | 'warn'): void {
    this.#observed.polled().note(what, this.#names.shown(key), level);
  }
}
