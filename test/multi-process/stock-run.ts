import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { parsed, unitsOf } from '../../lib/stock/deduction.js';
import type { OrderRecord } from '../../lib/stock/deduction.js';
import type { SegmentedStock } from '../../lib/stock/segmented-stock.js';
import { splitStock } from '../../lib/stock/stock-plan.js';
import type { LockService } from '../../lib/service/lock.service.js';
import { freshBasePath } from '../support/base-path.js';
import { openService } from '../support/services.js';
import { startWorker } from './start-worker.js';
import type { Worker } from './start-worker.js';
import { FileLedger } from './workers/file-ledger.js';
import type { StockOrders, Told } from './workers/stock-orders.js';
import { connectionOf } from '../../lib/service/lock.service.js';

export interface RunOptions {
  readonly units: number;
  readonly segments: number;
  readonly buyers: number;
  readonly processes: number;
  /** The number of times that each process is killed. */
  readonly kills: number;
  readonly store: 'records' | 'ledger';
  readonly planted?: StockOrders['planted'];
}

/** The outcome of a sale, from every source that recorded it. */
export interface Account {
  readonly told: readonly Told[];
  /** Units by order, as recorded. */
  readonly sold: ReadonlyMap<string, number>;
  /** Units by order, as the user's store has recorded them; the same as `sold` without such a store. */
  readonly taken: ReadonlyMap<string, number>;
  readonly available: number;
  readonly leftovers: number;
}

const SESSION_MS = 1_000;

/** A stock, and the processes that buy all of it while some of them are killed. */
export class StockRun {
  readonly #options: RunOptions;
  readonly #directory: string;
  readonly #locks: LockService;
  readonly #basePath: string;
  readonly stock: SegmentedStock;

  private constructor(options: RunOptions, directory: string, locks: LockService, basePath: string) {
    this.#options = options;
    this.#directory = directory;
    this.#locks = locks;
    this.#basePath = basePath;
    const { segments, store } = options;
    this.stock = locks.stock('sku', { segments, ...(store === 'ledger' && { store: this.#ledger }) });
  }

  static async open(options: RunOptions): Promise<StockRun> {
    const directory = await mkdtemp(join(tmpdir(), 'stock-'));
    onTestFinished(() => rm(directory, { recursive: true }));
    const basePath = freshBasePath();
    const locks = await openService({ connectString: inject('zookeeper'), basePath, waitMs: 60_000 });
    const run = new StockRun(options, directory, locks, basePath);
    if (options.store === 'records') await run.stock.restock(options.units);
    else await run.#ledger.fill(splitStock(options.units, options.segments));
    return run;
  }

  /** Starts a process with some of the buyers, which begin when they get a message. */
  async start(place: number, planted = this.#options.planted): Promise<Worker> {
    const { buyers, processes, segments, store } = this.#options;
    const names = Array.from({ length: buyers }, (_, buyer) => `b${buyer}`);
    const orders: StockOrders = {
      connectString: inject('zookeeper'),
      basePath: this.#basePath,
      sessionTimeoutMs: SESSION_MS,
      segments,
      buyers: names.filter((_, buyer) => buyer % processes === place),
      journal: this.#journal(place),
      ...(store === 'ledger' && { ledger: this.#directory }),
      ...(planted && { planted }),
    };
    const worker = startWorker('stock', orders);
    await worker.next();
    return worker;
  }

  /** Runs all processes until all buyers know that nothing is left. A process that is killed is started again. */
  async play(): Promise<void> {
    const places = Array.from({ length: this.#options.processes }, (_, place) => place);
    const first = await Promise.all(places.map((place) => this.start(place)));
    await Promise.all(first.map((worker, place) => this.#live(worker, place)));
  }

  async #live(first: Worker, place: number): Promise<void> {
    const { buyers, processes, kills } = this.#options;
    let worker = first;
    for (let kill = 0; kill < kills; kill++) {
      worker.send({});
      // Each buyer of the process gets the outcome of at least two orders.
      await heard(worker, 1 + Math.floor(Math.random() * (buyers / processes)));
      worker.signal('SIGKILL');
      worker = await this.start(place);
    }
    worker.send({});
    await worker.succeeded();
  }

  async account(): Promise<Account> {
    const { records } = connectionOf(this.#locks).backend;
    const names = (await records.list('stock/sku/orders')).map((last) => `stock/sku/orders/${last}`);
    const orders = await Promise.all(names.map((name) => records.read(name)));
    const sold = new Map<string, number>();
    for (const order of orders) {
      if (order) sold.set(order.name.slice('stock/sku/orders/'.length), unitsOf(parsed<OrderRecord>(order).parts));
    }
    const taken = this.#options.store === 'ledger' ? await this.#taken() : sold;
    const leftovers = (await this.stock.leftovers()).length;
    return { told: await this.#told(), sold, taken, available: await this.stock.available(), leftovers };
  }

  async #taken(): Promise<Map<string, number>> {
    const taken = new Map<string, number>();
    for (let segment = 0; segment < this.#options.segments; segment++) {
      const page = await this.#ledger.read(segment);
      for (const [orderId, units] of Object.entries(page.taken)) {
        if (units !== 0) taken.set(orderId, (taken.get(orderId) ?? 0) + units);
      }
    }
    return taken;
  }

  async #told(): Promise<Told[]> {
    const places = Array.from({ length: this.#options.processes }, (_, place) => place);
    const journals = await Promise.all(places.map((place) => readFile(this.#journal(place), 'utf8').catch(() => '')));
    // A process may be killed in the middle of a line.
    const lines = journals.flatMap((journal) => journal.split('\n')).filter((line) => line.endsWith('}'));
    return lines.map((line) => JSON.parse(line) as Told);
  }

  get #ledger(): FileLedger {
    return new FileLedger(this.#directory);
  }

  #journal(place: number): string {
    return join(this.#directory, `journal-${place}`);
  }
}

/** Resolves when the worker has sent `count` more messages, or has ended. */
async function heard(worker: Worker, count: number): Promise<void> {
  let left = count;
  const counted = new Promise<void>((resolve) => worker.listen(() => void (--left === 0 && resolve())));
  await Promise.race([counted, worker.ended()]);
}
