import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PutBackRequest, SegmentRequest, SegmentStore, TakeRequest } from '../../../lib/stock/stock-keeper.js';

/** The content of a segment's file. */
export interface LedgerPage {
  readonly units: number;
  /** The largest fencing token that it has seen. */
  readonly token: string;
  /** The units that each order has taken and not returned. */
  readonly taken: Readonly<Record<string, number>>;
}

/**
 * One file per segment. Each call replaces the file as a whole, so a killed process has either made the change or not.
 * It reads, computes and writes without synchronization, and is only correct under a lock.
 */
export class FileLedger implements SegmentStore {
  readonly #directory: string;
  #writes = 0;

  constructor(directory: string) {
    this.#directory = directory;
  }

  async fill(levels: readonly number[]): Promise<void> {
    await Promise.all(levels.map((units, segment) => this.#write(segment, { units, token: '0', taken: {} })));
  }

  async read(segment: number): Promise<LedgerPage> {
    return JSON.parse(await readFile(this.#file(segment), 'utf8')) as LedgerPage;
  }

  async available(segment: number): Promise<number> {
    return (await this.read(segment)).units;
  }

  async take(request: TakeRequest): Promise<number> {
    const { want, atLeast, orderId } = request;
    return this.#turn(request, orderId, ({ units }) => (units < atLeast ? 0 : Math.min(want, units)));
  }

  async putBack(request: PutBackRequest): Promise<number> {
    return -(await this.#turn(request, request.orderId, ({ taken }) => -(taken[request.orderId] ?? 0)));
  }

  /** @returns the number of units that it moved from the segment to the order */
  async #turn(
    { segment, fencingToken }: SegmentRequest,
    orderId: string,
    moved: (page: LedgerPage) => number,
  ): Promise<number> {
    const page = await this.read(segment);
    if (fencingToken < BigInt(page.token)) throw new Error(`segment ${segment} has seen a newer token`);
    const units = moved(page);
    await this.#write(segment, {
      units: page.units - units,
      token: String(fencingToken),
      taken: { ...page.taken, [orderId]: (page.taken[orderId] ?? 0) + units },
    });
    return units;
  }

  async #write(segment: number, page: LedgerPage): Promise<void> {
    const draft = `${this.#file(segment)}.${process.pid}.${this.#writes++}`;
    await writeFile(draft, JSON.stringify(page));
    await rename(draft, this.#file(segment));
  }

  #file(segment: number): string {
    return join(this.#directory, `${segment}.json`);
  }
}
