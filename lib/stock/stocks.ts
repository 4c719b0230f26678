import type { SegmentedLock } from '../composite/segmented-lock.js';
import type { RecordStore } from '../contract/record-store.js';
import type { SegmentOptions } from '../contract/segment.options.js';
import { LeasedStock } from './leased-stock.js';
import { LeasedTraffic } from './leased-traffic.js';
import { OpenOrders } from './open-orders.js';
import { RecordStock } from './record-stock.js';
import { SegmentedStock } from './segmented-stock.js';
import { SharedByKey } from './shared-by-key.js';
import { Shelves } from './shelves.js';
import type { StockKeeper } from './stock-keeper.js';
import { StockNames } from './stock-names.js';
import { resolveStockOptions } from './stock.options.js';
import type { ResolvedStockOptions, StockOptions } from './stock.options.js';
import { Till } from './till.js';

/** What the stocks of one connection are made with. */
export interface StockSource {
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
  readonly #tills = new SharedByKey<Till>();
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
    const till = this.#tills.of(key, () => new Till(records, new Shelves(records, names)));
    return new RecordStock(records, names, till, mergeBelow);
  }
}
