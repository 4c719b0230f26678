const EACH_MS = 1_000;
const LONGEST_MS = 10_000;
/** The server itself gives up asking for less. A process that hangs takes a request all the same, and is silent. */
const ANSWER_MS = 8_000;
const MOST_KNOWN = 8;
const NOW = 'x-locks-now';

/** The header that only this code sets: a form of another site cannot. */
const OWN_HEADERS = { 'x-locks-page': '1' };

/** An answer of the server that is not the one that was asked for. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

/** The functions that a poller calls. */
interface Polled {
  /** Returns the addresses to ask, the state first. */
  readonly addresses: () => readonly string[];
  /** Called with the state, and with the other answers unless one of them failed. */
  readonly onAnswers: (answers: readonly unknown[], fault: unknown) => void;
  readonly onFault: (error: unknown) => void;
  readonly onPause: () => void;
  /** Called with the clock of the server less the browser's, in milliseconds. */
  readonly onClock: (offset: number) => void;
}

/**
 * Asks once a second, one request after the other. It pauses while the page is hidden, and asks less often while there
 * is no answer. What has not changed is not sent again.
 */
export class Poller {
  readonly #polled: Polled;
  readonly #known = new Map<string, { readonly etag: string; readonly answer: unknown }>();
  #timer = 0;
  #pauseMs = EACH_MS;
  #asking: AbortController | undefined;

  constructor(polled: Polled) {
    this.#polled = polled;
    document.addEventListener('visibilitychange', () => this.now());
  }

  /** Asks at once, whatever is under way. */
  now(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
    this.#asking = undefined;
    if (document.hidden) return this.#polled.onPause();
    const asking = new AbortController();
    this.#asking = asking;
    void this.#ask(asking).finally(() => {
      if (this.#asking !== asking) return;
      this.#timer = window.setTimeout(() => this.now(), this.#pauseMs);
    });
  }

  async #ask(asking: AbortController): Promise<void> {
    try {
      const [address = '', ...others] = this.#polled.addresses();
      const answers = [await this.#answered(address, asking)];
      let fault: unknown;
      try {
        for (const other of others) answers.push(await this.#answered(other, asking));
      } catch (error) {
        fault = error;
      }
      if (this.#asking !== asking) return;
      this.#pauseMs = EACH_MS;
      this.#polled.onAnswers(answers, fault);
    } catch (error) {
      // The answer is not wanted any more.
      if (this.#asking !== asking) return;
      this.#pauseMs = Math.min(LONGEST_MS, 2 * this.#pauseMs);
      this.#polled.onFault(error);
    }
  }

  async #answered(address: string, asking: AbortController): Promise<unknown> {
    const silent = new Error(`the instance has not answered within ${ANSWER_MS / 1_000} s`);
    const timer = window.setTimeout(() => asking.abort(silent), ANSWER_MS);
    return this.#get(address, asking.signal).finally(() => clearTimeout(timer));
  }

  async #get(address: string, signal: AbortSignal): Promise<unknown> {
    const known = this.#known.get(address);
    const headers = { ...OWN_HEADERS, ...(known && { 'if-none-match': known.etag }) };
    const response = await fetch(address, { headers, signal, cache: 'no-store' });
    const now = Number(response.headers.get(NOW));
    if (now > 0) this.#polled.onClock(now - Date.now());
    if (response.status === 304 && known) return known.answer;
    const answer = await answerOf(response);
    const etag = response.headers.get('etag');
    if (etag !== null) {
      this.#known.set(address, { etag, answer });
      const [oldest] = this.#known.keys();
      if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
    }
    return answer;
  }
}

/** Sends an action. @throws Refusal */
export async function send(action: string, body: object): Promise<void> {
  const response = await fetch(`api/actions/${action}`, {
    method: 'POST',
    headers: { ...OWN_HEADERS, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  await answerOf(response);
}

async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text();
  const answer = parsed(text);
  if (response.ok && answer !== undefined) return answer;
  const message = (answer as { message?: unknown } | undefined)?.message;
  throw new Refusal(response.status, typeof message === 'string' ? message : `the server answered ${response.status}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
