import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { CoordinationService } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { settings } from '../settings.js';

const PACKING_TAKES_MS = 5;
/** The number of instances in a shift. */
export const SHIFT = 5;

/** One instance's part in a shift, on the machine's monotonic clock in milliseconds. */
export interface ShiftPart {
  readonly instance: string;
  /** The time when its own work was done, and the time when it left. */
  readonly done: number;
  readonly home: number;
}

@Injectable()
export class JobsService {
  constructor(
    private readonly coordination: CoordinationService,
    private readonly files: ShopFiles,
  ) {}

  async order(parcel: number): Promise<void> {
    await this.coordination.queue<number>('parcels').put(parcel);
  }

  async close(): Promise<void> {
    await this.coordination.barrier('doors').raise();
  }

  async open(): Promise<void> {
    await this.coordination.barrier('doors').lift();
  }

  /** Waits for the doors to open, then starts and leaves together with all others. */
  async shift(): Promise<void> {
    const { instance } = settings;
    await this.coordination.barrier('doors').wait();
    const done = await this.coordination.doubleBarrier('shift', { count: SHIFT }).using(() => this.packAll());
    await this.files.append('shifts', { instance, done, home: performance.timeOrigin + performance.now() });
  }

  private async packAll(): Promise<number> {
    const parcels = this.coordination.queue<number>('parcels');
    for (let item = await parcels.take({ waitMs: 0 }); item; item = await parcels.take({ waitMs: 0 })) {
      await pause(PACKING_TAKES_MS);
      await this.files.append('packed', { parcel: item.value, instance: settings.instance });
      await item.ack();
    }
    return performance.timeOrigin + performance.now();
  }
}
