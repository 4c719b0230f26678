import { Controller, Delete, Put } from '@nestjs/common';
import { PollerService } from './poller.service.js';

/** Switches the poller on and off, so that the sample can show it separately. */
@Controller('poller')
export class PollerController {
  constructor(private readonly poller: PollerService) {}

  @Put()
  start(): void {
    this.poller.isOn = true;
  }

  @Delete()
  stop(): void {
    this.poller.isOn = false;
  }
}
