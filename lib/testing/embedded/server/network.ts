import type { Connection } from './connection.js';

/** The faults between a server and its clients, later connections included. Each lasts until it is undone. */
export class Network {
  /** Whether new connections are accepted only to be closed. */
  refuses = false;
  readonly #connections: ReadonlySet<Connection>;
  #delayMs = 0;
  #isPaused = false;
  #isBlackHole = false;

  constructor(connections: ReadonlySet<Connection>) {
    this.#connections = connections;
  }

  /** Whether no client gets an answer. */
  get isSilent(): boolean {
    return this.#isPaused || this.#isBlackHole;
  }

  delay(ms: number): void {
    this.#delayMs = ms;
    this.#connections.forEach(({ outbox }) => outbox.delay(ms));
  }

  pause(): void {
    this.#isPaused = true;
    this.#connections.forEach((connection) => connection.pause());
  }

  resume(): void {
    this.#isPaused = false;
    this.#connections.forEach((connection) => connection.resume());
  }

  blackHole(): void {
    this.#isBlackHole = true;
    this.#connections.forEach((connection) => connection.blackHole());
  }

  heal(): void {
    this.refuses = false;
    this.#delayMs = 0;
    this.#isPaused = false;
    this.#isBlackHole = false;
    this.#connections.forEach((connection) => connection.heal());
  }

  /** Applies all faults to a new connection. */
  meet(connection: Connection): void {
    connection.outbox.delay(this.#delayMs);
    if (this.#isPaused) connection.pause();
    if (this.#isBlackHole) connection.blackHole();
  }
}
