import { join } from 'node:path';
import type { FaultProxy } from '../../../lib/testing/index.js';
import type { FencedRegister } from '../model/fenced-register.js';
import type { ProcessEnd, RegisterWrite } from '../model/history.js';
import type { WorkerOrders } from '../traffic/orders.js';
import { WorkerProcess } from '../traffic/worker-process.js';

/** The place of one worker: its own links to the servers, and its current process. */
export class Seat {
  readonly name: string;
  /** One link for each server. */
  readonly links: readonly FaultProxy[];
  /** All processes that have run here. */
  readonly processes: WorkerProcess[] = [];
  readonly #orders: Omit<WorkerOrders, 'process' | 'journal' | 'connectString'>;
  readonly #directory: string;
  readonly #guarded: { readonly register: FencedRegister; readonly writes: RegisterWrite[] };

  constructor(
    name: string,
    links: readonly FaultProxy[],
    directory: string,
    orders: Omit<WorkerOrders, 'process' | 'journal' | 'connectString'>,
    guarded: { readonly register: FencedRegister; readonly writes: RegisterWrite[] },
  ) {
    this.name = name;
    this.links = links;
    this.#directory = directory;
    this.#orders = orders;
    this.#guarded = guarded;
  }

  get worker(): WorkerProcess {
    const worker = this.processes.at(-1);
    if (!worker) throw new Error(`${this.name} is empty`);
    return worker;
  }

  /** Starts a process here. The previous one must have ended. */
  async take(): Promise<void> {
    const name = `${this.name}.${this.processes.length}`;
    const connectString = this.links.map((link) => link.connectString).join(',');
    const orders = { ...this.#orders, process: name, journal: this.journalOf(name), connectString };
    const worker = new WorkerProcess(orders, (write) => this.#write(write));
    this.processes.push(worker);
    await worker.ready();
  }

  journalOf(process: string): string {
    return join(this.#directory, `${process}.jsonl`);
  }

  /** The processes that were killed by a fault. */
  casualties(): Promise<ProcessEnd[]> {
    return Promise.all(this.processes.slice(0, -1).map((worker) => worker.ended()));
  }

  #write({ hold, key, mode, token }: Pick<RegisterWrite, 'hold' | 'key' | 'mode'> & { token: string }) {
    const accepted = this.#guarded.register.write(key, mode, BigInt(token));
    this.#guarded.writes.push({ hold, key, mode, token: BigInt(token), accepted });
    return accepted;
  }
}
