/** The program of an application's process: the library, from decorators to the wire, and traffic over it. */
import { Logger } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { ProgramHost, RunningProgram } from '../cluster/program.js';
import type { Entry } from '../model/entry.js';
import { observeClaims } from './observe-claims.js';
import { runTraffic, trafficModule } from '../traffic/traffic.module.js';
import type { TrafficOrders } from '../traffic/orders.js';

Logger.overrideLogger(false);

export async function startProgram(host: ProgramHost<TrafficOrders, Entry>): Promise<RunningProgram> {
  observeClaims(host);
  const finishing = new AbortController();
  const { process, orders } = host;
  const record = (entry: Entry) => host.record(entry);
  const module = trafficModule({ process, orders, record, finishing: finishing.signal });
  const app = await NestFactory.createApplicationContext(module, { logger: false, abortOnError: false });
  const traffic = runTraffic(app);
  // The caller of `finish` gets the rejection.
  traffic.catch(() => {});
  return {
    finish: () => {
      finishing.abort();
      return traffic;
    },
    close: () => app.close(),
  };
}
