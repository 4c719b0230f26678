import 'reflect-metadata';
import { Injectable } from '@nestjs/common';
import { EventEmitter2, EventEmitterModule, OnEvent } from '@nestjs/event-emitter';
import { describe, expect, it } from 'vitest';
import { currentLease, DistributedLock } from '../../lib/index.js';
import { startApp } from './app.js';

interface Placed {
  readonly id: number;
}

@Injectable()
class Listener {
  readonly heard: string[] = [];

  @DistributedLock((event: Placed) => `above/${event.id}`)
  @OnEvent('placed')
  async above(event: Placed) {
    this.heard.push(`${event.id}: ${currentLease()?.key}`);
  }

  @OnEvent('placed')
  @DistributedLock((event: Placed) => `below/${event.id}`)
  async below(event: Placed) {
    this.heard.push(`${event.id}: ${currentLease()?.key}`);
  }
}

describe('a lock on an event listener', () => {
  it('is acquired above and below @OnEvent', async () => {
    const { app } = await startApp({ imports: [EventEmitterModule.forRoot()], providers: [Listener] });
    await app.get(EventEmitter2).emitAsync('placed', { id: 3 });
    expect(app.get(Listener).heard.toSorted()).toEqual(['3: above/3', '3: below/3']);
  });
});
