import type {
  AddRequest,
  PutBackRequest,
  SegmentRequest,
  SegmentStore,
  TakeRequest,
} from '../../lib/stock/stock-keeper.js';

/** A user's store in memory that keeps all the promises that it has to, and can be made to fail. */
export class UnitLedger implements SegmentStore {
  readonly levels: number[];
  /** The units that each order has taken from each segment. */
  readonly taken = new Map<string, number>();
  readonly calls: string[] = [];
  /** Called before each call takes effect. If it rejects, the call rejects with the same reason. */
  before: (call: string, request: SegmentRequest) => Promise<void> = async () => {};
  /** Called after each call took effect. If it rejects, the call rejects with the same reason. */
  after: (call: string, request: SegmentRequest) => Promise<void> = async () => {};
  readonly #tokens = new Map<number, bigint>();
  readonly #deliveries = new Set<string>();

  constructor(levels: readonly number[]) {
    this.levels = [...levels];
  }

  get units(): number {
    return this.levels.reduce((sum, units) => sum + units, 0);
  }

  /** The units that all orders have together. */
  get unitsTaken(): number {
    return [...this.taken.values()].reduce((sum, units) => sum + units, 0);
  }

  async take(request: TakeRequest): Promise<number> {
    const { segment, orderId, want, atLeast } = request;
    return this.#call('take', request, () => {
      const level = this.levels[segment] ?? 0;
      const units = level < atLeast ? 0 : Math.min(want, level);
      this.#move(segment, orderId, units);
      return units;
    });
  }

  async putBack(request: PutBackRequest): Promise<number> {
    const { segment, orderId } = request;
    return this.#call('putBack', request, () => {
      const units = this.taken.get(`${orderId}@${segment}`) ?? 0;
      this.#move(segment, orderId, -units);
      return units;
    });
  }

  async add(request: AddRequest): Promise<void> {
    const { segment, restockId, units } = request;
    await this.#call('add', request, () => {
      const delivery = `${restockId}@${segment}`;
      if (!this.#deliveries.has(delivery)) this.levels[segment] = (this.levels[segment] ?? 0) + units;
      this.#deliveries.add(delivery);
    });
  }

  async available(segment: number): Promise<number> {
    return this.levels[segment] ?? 0;
  }

  async #call<T>(call: string, request: SegmentRequest, work: () => T): Promise<T> {
    const { segment, fencingToken } = request;
    this.calls.push(`${call} ${segment}`);
    await new Promise((resolve) => setImmediate(resolve));
    await this.before(call, request);
    if (fencingToken < (this.#tokens.get(segment) ?? 0n)) throw new Error(`an old token for segment ${segment}`);
    this.#tokens.set(segment, fencingToken);
    const result = work();
    await this.after(call, request);
    return result;
  }

  #move(segment: number, orderId: string, units: number): void {
    const name = `${orderId}@${segment}`;
    this.levels[segment] = (this.levels[segment] ?? 0) - units;
    this.taken.set(name, (this.taken.get(name) ?? 0) + units);
  }
}
