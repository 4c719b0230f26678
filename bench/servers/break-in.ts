import { settledWithin } from '../../lib/async/timer.js';
import { PipeliningClient } from '../support/pipelining-client.js';
import type { Server } from './server.js';

const AT_A_TIME = 8;
const LONGEST_ANSWER_MS = 10_000;

/**
 * Gives new servers work for the given time. They are slow until their machines have compiled the hot code. An ensemble
 * also stalls now and then in its first seconds, or closes connections.
 */
export async function brokenIn(started: Promise<Server>, ms: number): Promise<Server> {
  const server = await started;
  const until = performance.now() + ms;
  await Promise.all(portsOf(server).map((port, place) => exercise(port, `/break-in-${place}-`, until)));
  return server;
}

function portsOf({ address }: Server): number[] {
  return address.split(',').map((one) => Number(one.slice(one.lastIndexOf(':') + 1)));
}

async function exercise(port: number, prefix: string, until: number): Promise<void> {
  const client = await PipeliningClient.open(port);
  // A request whose connection was cut is never answered.
  const limitMs = until - performance.now() + LONGEST_ANSWER_MS;
  await settledWithin(client.createAndDelete(prefix, AT_A_TIME, until), limitMs);
  client.close();
}
