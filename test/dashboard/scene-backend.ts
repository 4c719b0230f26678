import type { Contender } from '../../lib/contract/contender.js';
import type { LockBackendDefinition } from '../../lib/contract/lock-backend.js';
import type { GrantedLease } from '../../lib/contract/granted-lease.js';
import type { LockRequest } from '../../lib/contract/lock-request.js';
import type { BackendVitals, Survey, SurveyedKey, SurveyedKind, SurveyQuestion } from '../../lib/contract/survey.js';
import { MemoryBackend } from '../../lib/memory/memory.backend.js';

/** A contender of another process, as a test scripts it. */
export interface Scripted {
  readonly label?: string;
  readonly host?: string;
  readonly pid?: number;
  readonly ageMs?: number;
  /** The time since which it holds or waits, in place of its age. */
  readonly from?: number;
  readonly mode?: Contender['mode'];
  readonly isOwn?: boolean;
}

/** A key of the cluster, as a test scripts it. */
export interface ScriptedKey {
  readonly kind?: SurveyedKind;
  readonly holders: readonly Scripted[];
  readonly waiters?: readonly Scripted[];
}

/** Locks in memory, beside the keys of a cluster that a test scripts. */
export class SceneBackend extends MemoryBackend {
  override readonly name: string;
  readonly cluster = new Map<string, ScriptedKey>();
  readonly questions: SurveyQuestion[] = [];
  readonly queues: { key: string; items: number }[] = [];
  isTruncated = false;
  fault: Error | undefined;
  margin = 6_800;
  readonly #own = new Set<string>();

  constructor(name = 'memory') {
    super();
    this.name = name;
  }

  override acquire(request: LockRequest): Promise<GrantedLease | null> {
    if (!request.key.startsWith('#')) this.#own.add(request.key);
    return super.acquire(request);
  }

  override async lineOf(key: string): Promise<readonly Contender[]> {
    const { holders = [], waiters = [] } = this.cluster.get(key) ?? {};
    return [...held(holders), ...waiting(waiters), ...(await super.lineOf(key))];
  }

  override async survey(question: SurveyQuestion): Promise<Survey> {
    this.questions.push(question);
    if (this.fault) throw this.fault;
    const names = new Set([...this.cluster.keys(), ...this.#own]);
    const wanted = [...names].filter((key) => key.startsWith(question.prefix ?? ''));
    const keys = await Promise.all(wanted.map(async (key) => this.#surveyed(key, await this.lineOf(key), question)));
    const inUse = keys.filter(({ holding, waiting: count }) => holding + count > 0);
    return { keys: inUse.slice(0, question.mostKeys), queues: this.queues, isTruncated: this.isTruncated };
  }

  override vitals(): BackendVitals {
    return {
      sessionId: '0x1003a7f2c5d0004',
      sessionTimeoutMs: 10_000,
      marginMs: this.margin,
      server: 'zk2.internal:2181',
    };
  }

  #surveyed(key: string, line: readonly Contender[], { mostContenders }: SurveyQuestion): SurveyedKey {
    const holders = line.filter(({ state }) => state === 'held');
    const waiters = line.filter(({ state }) => state === 'waiting');
    const kind = this.cluster.get(key)?.kind ?? (line.some(({ mode }) => mode === 'permit') ? 'semaphore' : 'lock');
    return {
      key,
      kind,
      holders: holders.slice(0, mostContenders),
      holding: holders.length,
      waiters: waiters.slice(0, mostContenders),
      waiting: waiters.length,
    };
  }
}

/** The definition of a scene, whose last backend a test changes. */
export interface SceneDefinition extends LockBackendDefinition {
  readonly last: SceneBackend;
}

export function scene(name = 'memory'): SceneDefinition {
  let last: SceneBackend | undefined;
  return {
    name,
    create: () => (last = new SceneBackend(name)),
    get last() {
      if (!last) throw new Error('no application has been started');
      return last;
    },
  };
}

const held = (all: readonly Scripted[]) => all.map((one) => contender(one, 'held'));
const waiting = (all: readonly Scripted[]) => all.map((one) => contender(one, 'waiting'));

function contender(scripted: Scripted, state: Contender['state']): Contender {
  const {
    label,
    host = 'shop-1',
    pid = 17,
    ageMs = 0,
    from = Date.now() - ageMs,
    mode = 'exclusive',
    isOwn = false,
  } = scripted;
  const since = new Date(from);
  return { state, mode, owner: { label, host, pid }, since, isOwn, isLocal: false, isKept: false };
}
