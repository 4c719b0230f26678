import { listenTo, NEVER } from '../../async/abort.js';
import type { AbortListener } from '../../async/abort.js';
import { LinkedList } from '../../async/collections.js';
import type { Place } from '../../async/collections.js';
import { orTimeout } from '../../async/timer.js';
import { closeClient } from './redis-client.js';
import type { RedisClient } from './redis-client.js';
import { isWrongServer, LinkLostError, refusalOf } from './redis-error.js';
import type { ScriptCall, ScriptValue } from './script.js';

/**
 * The most requests of one write. The server begins with the first ones while this process makes the next. With all
 * requests of a turn in one write, server and process would each wait for the other.
 */
const MOST_IN_A_WRITE = 16;

/** A listener for messages of one channel. */
export type OnMessage = (message: string) => void;

/** The two connections of a link: for requests, and for messages. */
export interface LinkClients {
  readonly requests: RedisClient;
  readonly messages: RedisClient;
}

/** A request without an answer. It rejects at once when its caller gives up, or when the link is closed. */
class Unanswered implements AbortListener {
  readonly #reject: (error: unknown) => void;
  readonly #listening: Place<unknown> | undefined;

  constructor(signal: AbortSignal, reject: (error: unknown) => void) {
    this.#reject = reject;
    this.#listening = listenTo(signal, this);
  }

  aborted(reason: unknown): void {
    this.#reject(reason);
  }

  stopListening(): void {
    this.#listening?.leave();
  }

  lost(error: LinkLostError): void {
    this.stopListening();
    this.#reject(error);
  }
}

/**
 * Two connections to one server, from their opening to their first fault. After a fault both are closed, and every
 * request that was not answered rejects with a `LinkLostError`. A link is never opened again.
 */
export class RedisLink {
  readonly #clients: LinkClients;
  readonly #unanswered = new LinkedList<Unanswered>();
  readonly #listeners = new Map<string, OnMessage>();
  readonly #onClosed: (error: LinkLostError) => void;
  #fault: LinkLostError | undefined;
  /** The requests that this turn has made so far. */
  #gathered = 0;

  /** @param onClosed called once, at the first fault or at `close()` */
  constructor(clients: LinkClients, onClosed: (error: LinkLostError) => void) {
    this.#clients = clients;
    this.#onClosed = onClosed;
    for (const client of [clients.requests, clients.messages]) {
      client.on('error', (error: Error) => this.close(error.message, error));
      client.on('close', () => this.close('the server closed it'));
      client.on('end', () => this.close('it could not be opened'));
    }
    clients.messages.on('message', (channel: string, message: string) => this.#received(channel, message));
  }

  get isClosed(): boolean {
    return this.#fault !== undefined;
  }

  /** Opens both connections. @throws LinkLostError, and the link is closed */
  async open(limitMs: number): Promise<void> {
    const { requests, messages } = this.#clients;
    const opened = Promise.all([requests.connect(), messages.connect()]);
    try {
      await this.#settled(orTimeout(opened, limitMs, () => new Error(`no answer within ${limitMs} ms`)));
    } catch (error) {
      this.close((error as Error).message, error);
      throw this.#fault ?? error;
    }
  }

  /**
   * Runs a script. One that the server lacks is not sent again for a caller that has given up. It would run after what
   * undoes it.
   * @throws LinkLostError, RefusedError, `signal.reason` at once when it aborts
   */
  run(call: ScriptCall): Promise<unknown> {
    const { script, signal = NEVER } = call;
    return this.#settled(this.#send('EVALSHA', script.sha, call), signal, async () => {
      signal.throwIfAborted();
      return this.#settled(this.#send('EVAL', script.text, call), signal);
    });
  }

  /** Makes a plain request. @throws LinkLostError, RefusedError */
  ask(command: string, ...values: string[]): Promise<unknown> {
    return this.#settled(this.#clients.requests.call(command, values));
  }

  /** Subscribes to a channel. There is one listener for each channel. @throws LinkLostError, RefusedError */
  async subscribe(channel: string, onMessage: OnMessage): Promise<void> {
    this.#listeners.set(channel, onMessage);
    await this.#settled(this.#clients.messages.subscribe(channel));
  }

  unsubscribe(channel: string): void {
    this.#listeners.delete(channel);
    if (!this.isClosed) void this.#clients.messages.unsubscribe(channel).catch(() => {});
  }

  /** Closes both connections. A second call has no effect. */
  close(why: string, cause?: unknown): void {
    if (this.#fault) return;
    this.#fault = new LinkLostError(why, cause);
    this.#listeners.clear();
    for (const client of Object.values(this.#clients)) closeClient(client);
    for (const request of this.#unanswered.members) request.lost(this.#fault);
    this.#onClosed(this.#fault);
  }

  #send(command: string, source: string, { keys, values, inBytes = false }: ScriptCall): Promise<unknown> {
    const { requests } = this.#clients;
    this.#gatherWrites(requests);
    // One array of the right size: a list of arguments would be copied three times more, and grow each time.
    const words = new Array<ScriptValue>(source, keys.length).concat(keys, values);
    return inBytes ? requests.callBuffer(command, words) : requests.call(command, words);
  }

  /**
   * Settles as the request does, or rejects when the link is closed: a client may leave its promises unsettled. Rejects
   * as well when the signal aborts.
   * @param ifUnknown asked instead when the server does not know the script
   */
  #settled(asked: Promise<unknown>, signal = NEVER, ifUnknown?: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const request = new Unanswered(signal, reject);
      const place = this.#unanswered.join(request);
      if (this.#fault) request.lost(this.#fault);
      asked.then(
        (reply) => {
          place.leave();
          request.stopListening();
          resolve(reply);
        },
        (error: unknown) => {
          place.leave();
          request.stopListening();
          const isUnknown = error instanceof Error && error.message.startsWith('NOSCRIPT');
          if (isUnknown && ifUnknown) ifUnknown().then(resolve, reject);
          else reject(this.#errorOf(error));
        },
      );
    });
  }

  /** Returns the error of a request. A server that cannot serve, and a connection that fails, end the link. */
  #errorOf(error: unknown): unknown {
    const refusal = refusalOf(error);
    if (refusal === error && error !== this.#fault) this.close((error as Error).message, error);
    if (isWrongServer(refusal)) this.close((refusal as Error).message, refusal);
    return this.#fault ?? refusal;
  }

  /**
   * Sends the requests of one turn of the event loop in a few writes. The client would write each by itself, and a system
   * call is most of its cost. The tick comes after all promises that this turn has settled.
   */
  #gatherWrites({ stream }: RedisClient): void {
    if (!stream) return;
    if (this.#gathered === 0) {
      stream.cork();
      process.nextTick(() => {
        this.#gathered = 0;
        stream.uncork();
      });
    } else if (this.#gathered % MOST_IN_A_WRITE === 0) {
      stream.uncork();
      stream.cork();
    }
    this.#gathered++;
  }

  // Runs inside the client's parser, where an error would end the process.
  #received(channel: string, message: string): void {
    try {
      this.#listeners.get(channel)?.(message);
    } catch (error) {
      this.close('a message could not be handled', error);
    }
  }
}
