import type { DynamicModule, INestApplicationContext } from '@nestjs/common';
import { LockModule } from '../../../lib/lock.module.js';
import { zookeeper } from '../../../lib/zookeeper/zookeeper.backend.js';
import { Jobs, Registry } from './decorated/jobs.js';
import { Methods } from './decorated/methods.js';
import { Poller } from './decorated/poller.js';
import { serviceOf } from '../model/services.js';
import type { ProgramName } from './orders.js';
import { Records } from './records.js';
import { TRAFFIC_TOOLS } from './tools.js';
import type { TrafficTools } from './tools.js';
import { Traffic } from './traffic.js';

class TrafficModule {}

/** The application of one simulated process: `NestFactory.createApplicationContext(trafficModule(tools))`. */
export function trafficModule(tools: TrafficTools): DynamicModule {
  const { orders } = tools;
  const provided = { provide: TRAFFIC_TOOLS, useValue: tools };
  const has = (program: ProgramName) => (orders.programs[program] ?? 0) > 0;
  const jobs = has('cron') ? [Jobs, Registry] : [];
  const poller = has('leader') ? [Poller] : [];
  const providers = [provided, Records, Methods, ...jobs, ...poller, Traffic];
  return { module: TrafficModule, imports: [lockModule(tools)], providers };
}

/**
 * Runs the programs of the process until `tools.finishing` aborts, then the final round. Everything except the
 * candidacies of `@LeaderOnly` is released then; these end with `app.close()`.
 */
export async function runTraffic(app: INestApplicationContext): Promise<void> {
  await app.get(Traffic).run();
}

function lockModule({ process, orders }: TrafficTools): DynamicModule {
  const { connectString, basePath, sessionTimeoutMs, module, services, ...limits } = orders;
  const { connectTimeoutMs, releaseTimeoutMs } = limits;
  return LockModule.forRoot({
    service: serviceOf(process, services),
    backend: zookeeper({ connectString, basePath, sessionTimeoutMs, connectTimeoutMs, releaseTimeoutMs }),
    connectOnStart: 'background',
    warnShutdownHooks: false,
    ...module,
  });
}
