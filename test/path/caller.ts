/** A process that calls a method under a lock that another process holds. It records each step through the library. */
import { Socket } from 'node:net';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Injectable, Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DistributedLock, LockModule, zookeeper } from '../../lib/index.js';
import type { ContendedCall } from './contended-call.js';
import { KEY } from './key.js';
import { COMPILED } from './places.js';

/** The calls after which a process has done everything once that it does only once. */
const WARM_UPS = 5;
/** Long enough that no heartbeat is sent during the call. */
const SESSION_MS = 60_000;
/** Promises continue for longer only when no timer or event is processed. */
const MOST_HOPS = 1_000;

const here = globalThis as typeof globalThis & { noteStep?: (step: string) => void };
const holder = fork(join(COMPILED, 'test', 'path', 'holder.js'));
let hopsSinceEvent = 0;
let hopsToMethod = 0;
const steps: string[] = [];

@Injectable()
class Service {
  @DistributedLock(KEY)
  async method(): Promise<void> {
    hopsToMethod = hopsSinceEvent;
  }
}

const [[connectString]] = [await once(holder, 'message')];

@Module({
  imports: [
    LockModule.forRoot({
      service: 'path',
      localLine: process.env.LOCAL_LINE !== 'off',
      backend: zookeeper({ connectString, sessionTimeoutMs: SESSION_MS }),
    }),
  ],
  providers: [Service],
})
class Application {}

const app = await NestFactory.createApplicationContext(Application, { logger: false });
for (let calls = 0; calls < WARM_UPS; calls++) await callWhileHeld();
countHops();
here.noteStep = (step) => void steps.push(step);
await callWhileHeld();
delete here.noteStep;
process.send?.({ steps, hopsToMethod } satisfies ContendedCall);
await app.close();
holder.disconnect();
process.disconnect?.();

async function callWhileHeld(): Promise<void> {
  const held = once(holder, 'message');
  holder.send('hold');
  await held;
  steps.length = 0;
  await app.get(Service).method();
}

/** Counts the promise continuations between an event of a socket and its effect. */
function countHops(): void {
  const { emit } = Socket.prototype;
  Socket.prototype.emit = function (this: Socket, event: string, ...args: never[]) {
    if (event === 'data') {
      hopsSinceEvent = 0;
      queueMicrotask(hop);
    }
    return Reflect.apply(emit, this, [event, ...args]);
  } as typeof emit;
  const hop = () => {
    if (++hopsSinceEvent < MOST_HOPS) queueMicrotask(hop);
  };
}
