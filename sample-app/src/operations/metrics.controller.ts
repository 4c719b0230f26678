import { Controller, Get, Header } from '@nestjs/common';
import { collectDefaultMetrics, register } from 'prom-client';

// Metrics of Node: a dashboard of locks shows the lag of the event loop beside them.
collectDefaultMetrics();

/** The metrics of this instance, for Prometheus. */
@Controller('metrics')
export class MetricsController {
  @Get()
  @Header('content-type', register.contentType)
  metrics(): Promise<string> {
    return register.metrics();
  }
}
