import type { SegmentedLock } from '../composite/segmented-lock.js';
import type { RecordStore } from '../contract/record-store.js';
import type { SegmentOptions } from '../contract/segment.options.js';
import { LeasedStock, LeasedTraffic } from './leased-stock.js';
import { OpenOrders } from './open-orders.js';
import { RecordStock } from './record-stock.js';
import { SegmentedStock } from './segmented-stock.js';
import { StockSnapshot } from './shelves.js';
import type { StockKeeper } from './stock-keeper.js';
import { StockNames } from './stock-names.js';
import { StockWriter } from './stock-writer.js';
import { resolveStockOptions } from './stock.options.js';
import type { ResolvedStockOptions, StockOptions } from './stock.options.js';

/** What the stocks of one connection are made with. */
interface StockSource {
  /** How long calls take at most unless they say, in milliseconds. */
  readonly waitMs: number;
  /** How long somebody waits who would wait for so long, in milliseconds. */
  readonly limited: (waitMs: number) => number;
  readonly records: RecordStore;
  /** The segmented lock on a key. @throws LockConfigurationError for a key that can have none */
  readonly lockOn: (key: string, options: SegmentOptions) => SegmentedLock;
}

/** The stocks of one connection: those who name the same key have its traffic in common. */
export class Stocks {
  readonly #source: StockSource;
  readonly #tills = new SharedByKey<StockWriter>();
  readonly #traffic = new SharedByKey<LeasedTraffic>();

  constructor(source: StockSource) {
    this.#source = source;
  }

  stockOf(key: string, given: StockOptions): SegmentedStock {
    const options = resolveStockOptions(given, this.#source.waitMs);
    const lock = this.#source.lockOn(key, { segments: options.segments });
    const { records, limited } = this.#source;
    const names = new StockNames(key);
    const keeper = this.#keeperOf(key, options, lock, names);
    return new SegmentedStock({ key, options, limited, keeper, records, names });
  }

  #keeperOf(
    key: string,
    { store, mergeBelow }: ResolvedStockOptions,
    lock: SegmentedLock,
    names: StockNames,
  ): StockKeeper {
    const { records } = this.#source;
    if (store) {
      const traffic = this.#traffic.of(key, () => new LeasedTraffic(lock));
      return new LeasedStock({ key, store, open: new OpenOrders(records, names) }, traffic);
    }
    const till = this.#tills.of(key, () => new StockWriter(records, new StockSnapshot(records, names)));
    return new RecordStock(records, names, till, mergeBelow);
  }
}

// What is thrown away is read again.
const MOST_KEPT = 1_000;

/** One of something a key, for all who name the key; of those that were asked for longest ago, only some are kept. */
export class SharedByKey<T extends { readonly isIdle: boolean }> {
  readonly #kept = new Map<string, T>();

  /** What the key has, or what `make` makes now. */
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
