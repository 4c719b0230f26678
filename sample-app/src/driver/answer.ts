/** One client's answer to one request. */
export interface Answer {
  /** The HTTP status; 0 if there was no answer. */
  readonly status: number;
  readonly body: unknown;
  /** The client's waiting time: in the wait queue of the lock, and for the work itself. */
  readonly waitMs: number;
}

export interface Tally {
  readonly requests: number;
  readonly done: number;
  /** The number of refusals, by reason. */
  readonly refused: ReadonlyMap<string, number>;
  /** The number of answers that no client should ever get. */
  readonly failed: number;
  /** `undefined` if the scene has no waiting. */
  readonly worstWaitMs: number | undefined;
}

const LOCKED = 423;

export function tally(answers: readonly Answer[]): Tally {
  const bad = answers.filter((answer) => !isDone(answer));
  const refused = new Map<string, number>();
  for (const reason of bad.map(reasonOf)) refused.set(reason, (refused.get(reason) ?? 0) + 1);
  return {
    requests: answers.length,
    done: answers.length - bad.length,
    refused,
    failed: bad.filter(({ status }) => status === 0 || status >= 500).length,
    worstWaitMs: Math.round(Math.max(0, ...answers.map(({ waitMs }) => waitMs))),
  };
}

export function isDone({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

function reasonOf({ status, body }: Answer): string {
  if (status === 0) return 'no answer';
  if (status === LOCKED) return 'locked for too long';
  const { message } = Object(body) as { readonly message?: string };
  return status === 409 && message ? message : `HTTP ${status}`;
}
