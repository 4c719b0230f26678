import { Controller, Get } from '@nestjs/common';
import { HealthCheck, HealthCheckService } from '@nestjs/terminus';
import type { HealthCheckResult } from '@nestjs/terminus';
import { LockHealthIndicator } from 'nestjs-distributed-lock/terminus';

/** The health of this instance, for the probes of Kubernetes or a balancer. */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LockHealthIndicator,
  ) {}

  /** Whether the instance should get requests: not while its leases are lost. */
  @Get('ready')
  @HealthCheck()
  ready(): Promise<HealthCheckResult> {
    return this.health.check([() => this.locks.isHealthy('locks')]);
  }

  /** Whether the event loop answers. A restart heals no server, so none is asked. */
  @Get('live')
  live(): { readonly status: string } {
    return { status: 'ok' };
  }
}
