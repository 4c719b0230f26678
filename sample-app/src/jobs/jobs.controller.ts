import { Body, Controller, Post } from '@nestjs/common';
import { JobsService } from './jobs.service.js';

@Controller('jobs')
export class JobsController {
  constructor(private readonly jobs: JobsService) {}

  @Post()
  async order(@Body() { parcel }: { readonly parcel: number }): Promise<void> {
    await this.jobs.order(parcel);
  }

  @Post('close')
  async close(): Promise<void> {
    await this.jobs.close();
  }

  @Post('open')
  async open(): Promise<void> {
    await this.jobs.open();
  }

  @Post('shift')
  async shift(): Promise<void> {
    await this.jobs.shift();
  }
}
