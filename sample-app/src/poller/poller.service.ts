import { setTimeout as pause } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LeaderOnly } from 'nestjs-distributed-lock';
import { ShopFiles } from '../files/shop-files.js';
import { settings } from '../settings.js';
import { POLL_EVERY_MS, POLL_TAKES_MS, POLLS } from './poll.js';
import type { Poll } from './poll.js';

@Injectable()
export class PollerService {
  isOn = false;
  private isBusy = false;

  constructor(private readonly files: ShopFiles) {}

  /**
   * Runs on every tick of each instance's interval, but only on the leader. When the leader dies, another instance
   * leads.
   */
  @Interval(POLL_EVERY_MS)
  @LeaderOnly('poller')
  async poll(): Promise<void> {
    if (!this.isOn || this.isBusy) return;
    this.isBusy = true;
    const fetched = await this.files.records<Poll>(POLLS);
    await pause(POLL_TAKES_MS);
    await this.files.append(POLLS, { by: settings.instance, message: fetched.length + 1 } satisfies Poll);
    this.isBusy = false;
  }
}
