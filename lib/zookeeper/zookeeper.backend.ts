import { BoundedMap } from '../async/collections.js';
import { settledWithin } from '../async/timer.js';
import type { BackendGuarantees } from '../contract/backend-guarantees.js';
import type { Contender } from '../contract/contender.js';
import { LockConfigurationError, LockTimeoutError } from '../contract/errors.js';
import type { GrantedLease } from '../contract/granted-lease.js';
import type {
  BackendState,
  ConnectionLog,
  HoldersQuestion,
  LockBackend,
  LockBackendDefinition,
} from '../contract/lock-backend.js';
import type { LockRequest } from '../contract/lock-request.js';
import type { ResolvedRevokeOptions } from '../contract/revoke.options.js';
import type { BackendVitals, SessionChange, Survey, SurveyQuestion } from '../contract/survey.js';
import { askInSession } from '../sessions/backend-sessions.js';
import type { ConnectString } from './client/connect-string.js';
import { MOST_BYTES } from './client/keeper-error.js';
import { NodeZooKeeperClient } from './client/node-zookeeper-client.js';
import { canBeginAgain, explained, inSession } from './session-retry.js';
import type { Attempt } from './session-retry.js';
import { CounterEndingError, EndingCounters } from './recipes/counter.js';
import { keyDirectoriesOf } from './recipes/key-directories.js';
import { lineIn } from './recipes/contender-listing.js';
import { acquireMutex } from './recipes/mutex.js';
import { acquireMutexSet } from './recipes/mutex-set.js';
import type { LockDirectory } from './recipes/lock-directory.js';
import { GATE, PERMITS, semaphoreIn } from './recipes/permit-view.js';
import { acquireReadWrite } from './recipes/read-write-lock.js';
import { acquirePermits } from './recipes/semaphore.js';
import { GrantedTimeout } from './session/lease-clock.js';
import { unlessMissing } from './session/watch.js';
import type { Session } from './session/session.js';
import { ZooKeeperReport, SessionSupervisor } from './session/session-supervisor.js';
import { NodePaths } from './node-paths.js';
import { lockPath } from './recipes/znode-path.js';
import { ZooKeeperCoordination } from './zookeeper-coordination.js';
import { ZooKeeperElections } from './zookeeper-elections.js';
import { ZooKeeperPermits } from './zookeeper-permits.js';
import { ZooKeeperRecords } from './zookeeper-records.js';
import { revoke } from './zookeeper-revocation.js';
import { surveyOf } from './zookeeper-survey.js';
import { resolveZooKeeperOptions } from './zookeeper.options.js';
import type { ResolvedZooKeeperOptions, ZooKeeperOptions } from './zookeeper.options.js';

const MOST_DIRECTORIES = 10_000;
// Longer than the inaccuracy of a timer, and shorter than a few hand-overs between processes.
const ENTRY_DELAY_MS = 3;
// The servers remove the rest later.
const GOODBYE_MS = 500;

const GUARANTEES: BackendGuarantees = Object.freeze({
  decidedBy: 'a majority of servers',
  clocks: 'those of clients',
  failOver: 'goes on',
  writtenAt: 'server',
  records: 'durable',
  sets: 'any keys',
  advice: [],
});

/**
 * A lock backend on ZooKeeper. Requests become recipes on the current session, and begin again when that session ends.
 */
export class ZooKeeperBackend implements LockBackend {
  readonly name = 'zookeeper';
  readonly guarantees = GUARANTEES;
  readonly records: ZooKeeperRecords;
  readonly permitCounts: ZooKeeperPermits;
  readonly coordination: ZooKeeperCoordination;
  readonly elections: ZooKeeperElections;
  readonly #options: ResolvedZooKeeperOptions;
  readonly #sessions: SessionSupervisor;
  readonly #report: ZooKeeperReport;
  /** The directories of recently used keys. Checking and encoding a key is a good part of a request's cost. */
  readonly #directories = new BoundedMap<LockDirectory>(MOST_DIRECTORIES);
  readonly #attempt: Attempt<LockRequest, GrantedLease> = this.#acquireOn.bind(this);

  readonly #ending = new EndingCounters();
  readonly #failures = {
    canBeginAgain: (error: unknown) => {
      if (error instanceof CounterEndingError) this.#ending.set(error.directory, error);
      return error instanceof CounterEndingError || canBeginAgain(error);
    },
    explained: (error: unknown, key: string) => this.explain(explained(error, key)),
  };

  constructor(options: ResolvedZooKeeperOptions) {
    this.#options = options;
    const { connect, sessionTimeoutMs, auth, tls, connectTimeoutMs } = options;
    this.#report = new ZooKeeperReport(serversText(connect), new GrantedTimeout(sessionTimeoutMs));
    this.#sessions = new SessionSupervisor(
      (listener) => new NodeZooKeeperClient({ servers: connect.servers, sessionTimeoutMs, auth, tls }, listener),
      connectTimeoutMs,
      this.#report,
    );
    this.records = new ZooKeeperRecords(this.#sessions, options);
    this.permitCounts = new ZooKeeperPermits(this.#sessions, options, (key) => this.#directoryOf(key));
    this.coordination = new ZooKeeperCoordination(this.#sessions, options);
    this.elections = new ZooKeeperElections({
      sessions: this.#sessions,
      places: new NodePaths(options),
      acquire: (request, attempt, { path }) => this.#acquire(request, attempt, () => [path]),
    });
  }

  get state(): BackendState {
    return this.#sessions.state;
  }

  identify(key: string): string {
    return this.#directoryOf(key).path;
  }

  get lockedAfterDeathMs(): number {
    return this.#sessions.connected?.timeoutMs ?? this.#options.sessionTimeoutMs;
  }

  vitals(): BackendVitals {
    return this.#sessions.vitals;
  }

  observe(listener: (change: SessionChange) => void): void {
    this.#report.changes.observe(listener);
  }

  logTo(log: ConnectionLog): void {
    this.#report.logTo(log);
  }

  async connect(): Promise<void> {
    await this.#sessions.session();
  }

  acquire(request: LockRequest): Promise<GrantedLease | null> {
    return this.#acquire(request, this.#attempt);
  }

  acquireAll(requests: readonly LockRequest[]): Promise<readonly GrantedLease[] | null> {
    const [first] = requests;
    if (!first) return Promise.resolve([]);
    const members = requests.map((request) => ({ directory: this.#directoryOf(request.key), request }));
    const attempt: Attempt<LockRequest, readonly GrantedLease[]> = (session, { signal }) =>
      acquireMutexSet(
        session,
        members.map(({ directory, request }) => ({ directory, request: { ...request, signal } })),
      );
    return this.#acquire(first, attempt, () => members.map(({ directory }) => directory.path));
  }

  async lineOf(key: string): Promise<readonly Contender[]> {
    const path = this.identify(key);
    return inSession(this.#sessions, { key, wait: false }, async (session, signal) => {
      return (await Promise.all([lineIn(session, path, signal), semaphoreIn(session, path, signal)])).flat();
    });
  }

  holdersOf({ key, of, most, signal }: HoldersQuestion): Promise<readonly Contender[]> {
    const path = this.identify(key);
    const look = of === 'key' ? lineIn : semaphoreIn;
    const ask = (session: Session, limit: AbortSignal) => look(session, path, limit, most);
    return inSession(this.#sessions, { key, wait: false, signal }, ask).then((found) =>
      found.filter(isHeld).slice(0, most),
    );
  }

  /** The servers of the connect string. */
  get servers(): ConnectString['servers'] {
    return this.#options.connect.servers;
  }

  /** The largest request that is sent. What is larger is refused before. */
  get largestRequestBytes(): number {
    return MOST_BYTES;
  }

  /** Returns the chroot of the connect string if there is no such znode. @throws LockUnavailableError */
  async missingChroot(): Promise<string | undefined> {
    const { chroot } = this.#options.connect;
    if (chroot === '') return undefined;
    return inSession(this.#sessions, { key: chroot, wait: false }, async (session, signal) => {
      const read = session.persistently(() => session.requests.read(chroot), signal);
      return unlessMissing(
        read.then(() => undefined),
        chroot,
      );
    });
  }

  survey(question: SurveyQuestion): Promise<Survey> {
    const { connect, basePath } = this.#options;
    const tree = { chroot: connect.chroot, basePath };
    const { prefix, signal, withinMs } = question;
    const call = { key: prefix || basePath || '/', wait: false, signal, workMs: withinMs };
    return inSession(this.#sessions, call, (session, limit) => surveyOf(session, tree, { ...question, signal: limit }));
  }

  revoke(key: string, options: ResolvedRevokeOptions): Promise<void> {
    return revoke(this.#sessions, { key, path: this.identify(key) }, options);
  }

  explain(reason: unknown): unknown {
    // While disconnected, this process cannot find out whether another one still holds the key.
    const isCutOff = reason instanceof LockTimeoutError && this.state !== 'connected';
    return isCutOff ? this.#sessions.unavailable(reason.waitMs, reason.key) : reason;
  }

  async close(): Promise<void> {
    const { connected } = this.#sessions;
    if (connected) await settledWithin(keyDirectoriesOf(connected).close(), GOODBYE_MS);
    await this.#sessions.close();
    this.#report.changes.closed();
  }

  /** @param directories the directories in which the attempt creates contenders. Default: those of the request */
  #acquire<R extends LockRequest, T>(
    request: R,
    attempt: Attempt<R, T>,
    directories?: () => readonly string[],
  ): Promise<T | null> {
    const ask = (session: Session, signal: AbortSignal) => {
      const limited = signal === request.signal ? request : { ...request, signal };
      if (this.#ending.size === 0) return attempt(session, limited);
      const restarted = this.#ending.areRestarted(session, directories?.() ?? this.#directoriesOf(request), limited);
      return restarted.then((isRestarted) => (isRestarted ? attempt(session, limited) : null));
    };
    return askInSession(this.#sessions, request, ask, this.#failures);
  }

  #acquireOn(session: Session, request: LockRequest): Promise<GrantedLease | null> {
    const { mode, permits } = request;
    if (permits) return acquirePermits(session, this.permitCounts.wanted(request.key, permits), request);
    if (mode === 'permit') throw new LockConfigurationError(`mode 'permit' needs permits`, { key: request.key });
    const directory = this.#directoryOf(request.key);
    if (mode !== 'exclusive') return acquireReadWrite(session, directory, mode, request);
    return acquireMutex(session, directory, request);
  }

  #directoriesOf({ key, permits }: LockRequest): readonly string[] {
    const path = this.identify(key);
    return permits ? [`${path}/${GATE}`, `${path}/${PERMITS}`] : [path];
  }

  #directoryOf(key: string): LockDirectory {
    const known = this.#directories.get(key);
    if (known) return known;
    const { acl, parents, releaseTimeoutMs, connect, basePath } = this.#options;
    const path = connect.chroot + lockPath(key, basePath);
    const directory = { path, acl, parents, isOfKey: true, releaseTimeoutMs, createDelayMs: ENTRY_DELAY_MS };
    this.#directories.set(key, directory);
    return directory;
  }
}

/** The connect string, rebuilt for messages. */
function serversText({ servers, chroot }: ConnectString): string {
  const hosts = servers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`);
  return hosts.join(',') + chroot;
}

function isHeld({ state }: Contender): boolean {
  return state === 'held';
}

/**
 * The ZooKeeper backend. It checks its options at once. Every application that uses it gets a session of its own.
 * @throws LockConfigurationError that names the wrong field
 */
export function zookeeper(options: ZooKeeperOptions = {}): LockBackendDefinition {
  const resolved = resolveZooKeeperOptions(options);
  return { name: 'zookeeper', create: () => new ZooKeeperBackend(resolved) };
}
