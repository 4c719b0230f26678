import { Body, Controller, Post } from '@nestjs/common';
import { TripsService } from './trips.service.js';
import type { Trip } from './trip.js';

@Controller('trips')
export class TripsController {
  constructor(private readonly trips: TripsService) {}

  @Post()
  async book(@Body() trip: Trip): Promise<void> {
    await this.trips.book(trip);
  }
}
