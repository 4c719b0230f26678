import type { SegmentedLock } from '../composite/segmented-lock.js';
import type { EventOrigin } from '../contract/channels.js';
import type { RecordStore } from '../contract/record-store.js';
import type { SegmentOptions } from '../contract/segment.options.js';
import { Deliveries } from './deliveries.js';
import { LeasedStock, LeasedTraffic } from './leased-stock.js';
import { OpenOrders } from './open-orders.js';
import { RecordStock } from './record-stock.js';
import { SegmentedStock } from './segmented-stock.js';
import { StockSnapshot } from './stock-snapshot.js';
import type { StockKeeper } from './stock-keeper.js';
import { StockNames } from './stock-names.js';
import { StockEvents } from './stock-events.js';
import { StockWriter } from './stock-writer.js';
import { resolveStockOptions } from './stock.options.js';
import type { ResolvedStockOptions, StockOptions } from './stock.options.js';

/** The dependencies of the stocks of one connection. */
interface StockSource {
  /** The longest time that a call takes by default, in milliseconds. */
  readonly waitMs: number;
  /** Returns the `waitMs` that applies to a call that asks for this one, in milliseconds. */
  readonly waitMsOf: (waitMs: number) => number;
  readonly records: RecordStore;
  /** The origin of the events of all stocks. */
  readonly origin: EventOrigin;
  /** Warns once if the servers can forget applied writes. */
  readonly warnOfLoss: (what: string) => void;
  /** Returns the segmented lock on a key. @throws LockConfigurationError for a key that can have none */
  readonly lockOn: (key: string, options: SegmentOptions) => SegmentedLock;
}

/** The stocks of one connection. All stocks of the same key share its writer or its traffic. */
export class Stocks {
  readonly #source: StockSource;
  readonly #writers = new SharedByKey<StockWriter>();
  readonly #traffic = new SharedByKey<LeasedTraffic>();

  constructor(source: StockSource) {
    this.#source = source;
  }

  stockOf(key: string, given: StockOptions): SegmentedStock {
    const options = resolveStockOptions(given, this.#source.waitMs);
    const lock = this.#source.lockOn(key, { segments: options.segments });
    const { records, waitMsOf, warnOfLoss } = this.#source;
    warnOfLoss('stock()');
    const names = new StockNames(key);
    const events = new StockEvents(key, this.#source.origin);
    const keeper = this.#keeperOf(key, options, lock, names);
    return new SegmentedStock({ key, options, waitMsOf, keeper, records, names, events });
  }

  #keeperOf(
    key: string,
    { store, mergeBelow }: ResolvedStockOptions,
    lock: SegmentedLock,
    names: StockNames,
  ): StockKeeper {
    const { records, origin } = this.#source;
    if (store) {
      const traffic = this.#traffic.of(key, () => new LeasedTraffic(lock));
      const tools = { key, store, open: new OpenOrders(records, names) };
      return new LeasedStock(tools, traffic, new Deliveries(records, names));
    }
    const writer = this.#writers.of(key, () => {
      const events = new StockEvents(key, origin);
      return new StockWriter(records, new StockSnapshot(records, names), Math.random, events);
    });
    return new RecordStock(records, names, writer, mergeBelow);
  }
}

// The state of a dropped object is read again.
const MOST_KEPT = 1_000;

/**
 * One object per key, shared by all users of the key. When there are too many, the idle one that was used longest ago
 * is dropped.
 */
export class SharedByKey<T extends { readonly isIdle: boolean }> {
  readonly #kept = new Map<string, T>();

  /** Returns the object of the key, or makes it. */
  of(key: string, make: () => T): T {
    const one = this.#kept.get(key) ?? make();
    this.#kept.delete(key);
    this.#kept.set(key, one);
    if (this.#kept.size > MOST_KEPT) this.#dropOldestIdle();
    return one;
  }

  #dropOldestIdle(): void {
    for (const [key, one] of this.#kept) {
      if (one.isIdle) return void this.#kept.delete(key);
    }
  }
}
