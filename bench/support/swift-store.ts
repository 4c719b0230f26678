import type { AddRequest, PutBackRequest, SegmentStore, TakeRequest } from '../../lib/index.js';

/** A store that answers at once, so that only the cost of its stock is measured. */
export class SwiftStore implements SegmentStore {
  readonly #units = new Map<number, number>();
  readonly #taken = new Map<string, number>();

  async take({ segment, want, atLeast, orderId }: TakeRequest): Promise<number> {
    const there = await this.available(segment);
    const units = there < atLeast ? 0 : Math.min(want, there);
    this.#units.set(segment, there - units);
    this.#taken.set(`${segment}/${orderId}`, units);
    return units;
  }

  async putBack({ segment, orderId }: PutBackRequest): Promise<number> {
    const place = `${segment}/${orderId}`;
    const units = this.#taken.get(place) ?? 0;
    this.#taken.delete(place);
    await this.#put(segment, units);
    return units;
  }

  async add({ segment, units }: AddRequest): Promise<void> {
    await this.#put(segment, units);
  }

  async available(segment: number): Promise<number> {
    return this.#units.get(segment) ?? 0;
  }

  async #put(segment: number, units: number): Promise<void> {
    this.#units.set(segment, (await this.available(segment)) + units);
  }
}
