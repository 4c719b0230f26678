import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { NotFoundException, ServiceUnavailableException } from '@nestjs/common';
import type { DiscoveryService, ModuleRef } from '@nestjs/core';
import { LockConfigurationError, LockUnavailableError } from '../contract/errors.js';
import { getLeaderElectionToken, LeaderElectionService } from '../elections/leader-election.service.js';
import { CronRunsService, getCronRunsToken } from '../schedule/cron-runs.service.js';
import { registrationOf } from '../service/connection-token.js';
import { connectionOf } from '../service/lock.service.js';
import type { LockService } from '../service/lock.service.js';
import { lockServicesOf, orCloseConnections } from '../discovered.js';
import { DashboardAccess } from './access.js';
import type { Rights } from './access.js';
import { DashboardActions } from './actions.js';
import type { DashboardAction, KeyAnswer, StateAnswer } from './answers.js';
import type { ResolvedDashboardOptions } from './dashboard.options.js';
import { KeyNames } from './key-names.js';
import { ObservedConnection, sum } from './observed-connection.js';
import { readPageFiles } from './page-files.js';
import type { PageFile } from './page-files.js';
import { shownOrNull } from './shown-text.js';

const LONGEST_QUERY = 256;

/** The values of a request's query. They may be anything. */
export type Query = Readonly<Record<string, unknown>>;

/** One connection of the application, with what can be done on it. */
interface Connected {
  readonly observed: ObservedConnection;
  readonly actions: DashboardActions;
}

/** The page of one application: who may see it, what it shows, what it does. */
export class Dashboard {
  readonly access: DashboardAccess;
  readonly options: ResolvedDashboardOptions;
  readonly #connections = new Map<string, Connected>();
  readonly #names: KeyNames;
  readonly #closing = new AbortController();
  readonly #instance: StateAnswer['instance'];
  #files: ReadonlyMap<string, PageFile> | undefined;

  constructor(options: ResolvedDashboardOptions, hasGuards: boolean) {
    this.options = options;
    this.access = new DashboardAccess(options, hasGuards);
    this.#names = new KeyNames(options);
    const host = options.showHosts ? shownOrNull(hostname()) : null;
    this.#instance = { id: randomUUID().slice(0, 8), host, pid: process.pid, node: process.version };
  }

  /** Finds the connections of the application. @throws LockConfigurationError for a name that is not registered */
  start(discovery: DiscoveryService, moduleRef: ModuleRef): Promise<void> {
    return orCloseConnections(discovery, () => {
      const services = new Map(lockServicesOf(discovery).map((locks) => [locks.connectionName, locks]));
      for (const name of this.options.connections ?? services.keys()) {
        const locks = services.get(name);
        if (!locks)
          throw new LockConfigurationError(
            `LockDashboardModule: connections has "${name}": import ${registrationOf(name)}`,
          );
        this.#connections.set(name, this.#connected(locks, moduleRef));
      }
    });
  }

  /** Ends what polls have begun, and aborts a revocation. */
  stop(): void {
    this.#closing.abort(new Error('the application is shutting down'));
    for (const { observed } of this.#connections.values()) observed.stop();
  }

  /** The files of the page by name. @throws LockConfigurationError when they are not there */
  get files(): ReadonlyMap<string, PageFile> {
    return (this.#files ??= readPageFiles(this.options.assets));
  }

  /** Returns the answer to a poll. */
  async state({ connection, view, search }: Query, { actions }: Rights): Promise<StateAnswer> {
    const [name, { observed, actions: doing }] = this.#chosen(connection);
    observed.polled();
    const text = typeof search === 'string' ? search.slice(0, LONGEST_QUERY) : '';
    // Beside the survey: each of them may take its time while the servers do not answer. None of them rejects.
    const runs = view === 'cron' ? observed.runs() : null;
    const stocks = view === 'stock' ? observed.stocks() : null;
    const losses = view === 'instance' ? observed.losses() : null;
    const facts = await observed.cluster.facts();
    const { keys: all, queues, isTruncated, fault, pathFault } = facts;
    const { keys, total, isAwaited, fault: searchFault } = await observed.cluster.matching(text, facts);
    return {
      instance: this.#instance,
      connection: name,
      connections: [...this.#connections.keys()],
      backend: observed.backendName,
      actions,
      fault,
      pathFault,
      isTruncated,
      isSearchAwaited: isAwaited,
      searchFault,
      total: total - keys.filter(({ kind }) => kind === 'election').length,
      held: sum(all, 'holding'),
      waiting: sum(all, 'waiting'),
      keys: keys.filter(({ kind }) => kind !== 'election'),
      elections: all.filter(({ kind }) => kind === 'election'),
      queues,
      runs: await runs,
      stocks: await stocks,
      losses: await losses,
      process: observed.process,
      history: observed.history,
      revocation: doing.revocation,
    };
  }

  /** Returns one key with its wait queue. @throws NotFoundException, ServiceUnavailableException */
  async key({ connection, id }: Query): Promise<KeyAnswer> {
    const [, { observed, actions }] = this.#chosen(connection);
    const key = typeof id === 'string' && id !== '' ? this.#names.keyOf(id) : undefined;
    if (key === undefined) throw new NotFoundException('no key is known by this id');
    observed.polled();
    const { contenders, more } = await observed.queueOf(key).catch((error: unknown) => this.#refuse(error));
    const { revocation } = actions;
    const own = revocation?.id === this.#names.idOf(key) ? revocation : null;
    const shown = { id: this.#names.idOf(key), key: this.#names.shown(key), contenders, more };
    return { instance: { id: this.#instance.id }, ...shown, holds: observed.holdsOf(key), revocation: own };
  }

  /** Does an action. @throws BadRequestException, NotFoundException, ConflictException */
  async act(action: DashboardAction, body: unknown, { who }: Rights): Promise<void> {
    const asked = (typeof body === 'object' && body !== null ? body : {}) as Readonly<Record<string, unknown>>;
    const [, { actions }] = this.#chosen(asked.connection);
    await actions.run(action, { body: asked, who });
  }

  /** An outage, or a key of another backend, is no defect: Nest would log each poll with its stack. */
  #refuse(error: unknown): never {
    if (error instanceof LockUnavailableError) throw new ServiceUnavailableException(this.#names.faultOf(error));
    if (error instanceof LockConfigurationError) throw new NotFoundException(this.#names.faultOf(error));
    throw error;
  }

  #chosen(connection: unknown): [name: string, connected: Connected] {
    const [first] = this.#connections.keys();
    const name = typeof connection === 'string' && connection !== '' ? connection : (first ?? '');
    const connected = this.#connections.get(name);
    if (!connected) throw new NotFoundException('there is no such connection');
    return [name, connected];
  }

  #connected(locks: LockService, moduleRef: ModuleRef): Connected {
    const connection = connectionOf(locks);
    const { connectionName } = locks;
    const get = <T>(token: unknown) => moduleRef.get<T>(token as never, { strict: false });
    const cronRuns = () => get<CronRunsService>(getCronRunsToken(connectionName));
    const elections = () => get<LeaderElectionService>(getLeaderElectionToken(connectionName));
    const runs = () => cronRuns().peek();
    const { signal } = this.#closing;
    const observed = new ObservedConnection({ locks, connection, runs }, this.#names, this.options);
    const services = { locks, elections, runs: cronRuns };
    return { observed, actions: new DashboardActions(services, observed, this.#names, signal) };
  }
}
