const NO_PASSWORD = Buffer.alloc(16);

/**
 * Names for values that differ between runs. Transactions count from the scenario's start, sessions have their client's
 * name.
 */
export class Names {
  readonly #base: bigint;
  readonly #sessions = new Map<bigint, string>();
  readonly #passwords = new Map<string, string>();
  readonly #granted: { readonly sessionId: bigint; readonly password: Buffer }[] = [];
  readonly #moments: number[];

  /** @param base the last transaction before the scenario */
  constructor(base: bigint) {
    this.#base = base;
    this.#moments = [Date.now()];
  }

  /** All sessions that were opened. */
  get granted(): readonly { readonly sessionId: bigint; readonly password: Buffer }[] {
    return this.#granted;
  }

  /** Starts a new moment, to which later times belong. */
  newMoment(): void {
    this.#moments.push(Date.now());
  }

  /** Records a session as the one that `client` has opened. */
  learn(client: string, sessionId: bigint, password: Buffer): void {
    if (this.#sessions.has(sessionId)) return;
    this.#granted.push({ sessionId, password: Buffer.from(password) });
    this.#sessions.set(sessionId, client);
    this.#passwords.set(password.toString('hex'), client);
  }

  /** `+3`: the third transaction of the scenario. */
  zxid(zxid: bigint): string {
    if (zxid <= 0n) return String(zxid);
    return zxid < this.#base ? 'before' : `+${zxid - this.#base}`;
  }

  session(id: bigint): string {
    return id === 0n ? '0' : (this.#sessions.get(id) ?? 'unknown');
  }

  password(password: Buffer | null): string {
    if (password === null || password.length === 0) return 'none';
    if (password.equals(NO_PASSWORD)) return 'zeros';
    return this.#passwords.get(password.toString('hex')) ?? `unknown of ${password.length}`;
  }

  /** `t2`: not before the second moment and not after the third, on the one clock of this machine. */
  time(ms: bigint): string {
    if (ms <= 0n) return String(ms);
    if (Number(ms) > Date.now() + 1) return 'ahead';
    // Some clocks are read in whole milliseconds.
    const moment = this.#moments.findLastIndex((since) => Number(ms) >= since - 1);
    return moment < 0 ? 'before' : `t${moment}`;
  }
}
