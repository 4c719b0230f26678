/** The session timeout, in ticks of the model. */
export const TTL = 2;

/** Ticks without an answer after which a replica is promoted although its primary may live. */
export const DOWN_AFTER = 1;

/** The rules of restart and fail-over: docs/redis.md says why each is needed. */
export interface Rules {
  /** The ticks for which a new server settles. */
  readonly settling: number;
  /** Whether a server that settles grants no free key. */
  readonly refusesUnsettled: boolean;
  /** Whether a process writes down on a new server what it holds, and holds it by its old deadline until the answer. */
  readonly adopts: 'until its answer' | 'before its answer' | 'never';
  /** Whether a process adopts nothing after its own deadline, and a server nothing after it has settled. */
  readonly adoptsInTime: boolean;
  /** Whether a session adopts a hold once: a request that was lost is repeated with the same entry, and not beside it. */
  readonly adoptsOnce: boolean;
  /** The moment from which a process counts its deadline. */
  readonly deadlineFrom: 'sending' | 'answer';
  /** Whether a renewal may bring back a session that is over. */
  readonly revives: boolean;
  /** Whether a token is at least the server's clock. */
  readonly clockInTokens: boolean;
  /** Whether a server refuses requests that were meant for another one. */
  readonly comparesServers: boolean;
  /** Whether a process stops believing when it has sent a release. */
  readonly endsAtRelease: boolean;
  /** The ticks after which a primary without its replica refuses writes: min-replicas-max-lag. */
  readonly maxLag: number;
}

export const RULES: Rules = {
  settling: TTL,
  refusesUnsettled: true,
  adopts: 'until its answer',
  adoptsInTime: true,
  adoptsOnce: true,
  deadlineFrom: 'sending',
  revives: false,
  clockInTokens: true,
  comparesServers: true,
  endsAtRelease: true,
  maxLag: 1,
};

/** The rules with one left out or weakened. The model must find each. */
export const DEFECTS: Readonly<Record<string, Partial<Rules>>> = {
  'no settling': { settling: 0 },
  'settling that is shorter than the timeout': { settling: TTL - 1 },
  'a grant by an unsettled server': { refusesUnsettled: false },
  'no adopting': { adopts: 'never' },
  'a new deadline before the adoption is answered': { adopts: 'before its answer' },
  'adoption after the deadline': { adoptsInTime: false },
  'an adoption under two entries': { adoptsOnce: false },
  'a deadline from the reply': { deadlineFrom: 'answer' },
  'a renewal that revives': { revives: true },
  'a token from a counter only': { clockInTokens: false },
  'requests that any server takes': { comparesServers: false },
  'belief until the release is answered': { endsAtRelease: false },
  'a split without min-replicas': { maxLag: Infinity },
};
