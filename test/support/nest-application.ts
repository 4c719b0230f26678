import 'reflect-metadata';
import { randomUUID } from 'node:crypto';
import { Controller, Injectable, Post } from '@nestjs/common';
import type { INestApplication } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { nextTurn } from '../../lib/async/timer.js';
import {
  assertHeld,
  CoordinationService,
  CronLock,
  currentSegment,
  currentRun,
  currentTerm,
  DistributedLock,
  key,
  LeaderElectionService,
  LeaderOnly,
  LockModule,
  LockService,
  ReadLock,
  SegmentLock,
  Semaphore,
  WriteLock,
} from '../../lib/index.js';
import type { LockBackendDefinition } from '../../lib/contract/lock-backend.js';
import { started } from '../nest/app.js';

/** The number of calls that run at once, in all instances of a test. */
class Inside {
  now = 0;
  most = 0;
  readonly tokens: bigint[] = [];

  async pass(turns = 5): Promise<void> {
    this.most = Math.max(this.most, ++this.now);
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    this.now--;
  }
}

let inside: Inside;

@Injectable()
class Shop {
  readonly reported: number[] = [];

  @DistributedLock((id: string) => key`order/${id}`)
  async place(_id: string): Promise<void> {
    inside.tokens.push(assertHeld().fencingToken);
    await inside.pass();
  }

  @DistributedLock((from: string, to: string) => [key`account/${from}`, key`account/${to}`])
  async transfer(_from: string, _to: string): Promise<void> {
    await inside.pass();
  }

  @ReadLock('prices')
  async quote(until: Promise<void>): Promise<void> {
    inside.most = Math.max(inside.most, ++inside.now);
    await until;
    inside.now--;
  }

  /** Resolves with the number of readers beside it. */
  @WriteLock('prices')
  async reprice(): Promise<number> {
    return inside.now;
  }

  @Semaphore('pdf', { permits: 2 })
  async render(): Promise<void> {
    await inside.pass();
  }

  @SegmentLock({ key: 'shelf', segments: 2 })
  async deduct(): Promise<number | undefined> {
    await inside.pass();
    return currentSegment()?.segment;
  }

  @LeaderOnly('poller')
  async poll(): Promise<boolean | undefined> {
    return currentTerm()?.isHeld();
  }

  @Cron('* * * * * *')
  @CronLock()
  async report(): Promise<void> {
    // Not the time: a late run on a busy machine is in the second of the next tick.
    this.reported.push(currentRun()?.tick?.getTime() ?? NaN);
  }
}

@Controller()
class Orders {
  @Post()
  @DistributedLock('till', { waitMs: 50 })
  async sell(): Promise<string> {
    return 'sold';
  }
}

/** A server, and the backend of one instance on it. */
export interface TestedBackend {
  readonly name: string;
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<void>;
  /** Returns the number of contenders and sessions on the server. */
  readonly left: (basePath: string) => Promise<number>;
  /** @param basePath the same for all instances of a test */
  readonly backend: (basePath: string) => LockBackendDefinition;
}

let tested: TestedBackend;
let basePath: string;

/** Starts one instance of the application, with a session of its own. */
function start(): Promise<INestApplication> {
  const imports = [
    ScheduleModule.forRoot(),
    LockModule.forRoot({ service: 'shop', backend: tested.backend(basePath) }),
  ];
  return started(Test.createTestingModule({ imports, controllers: [Orders], providers: [Shop] }).compile());
}

/** Two instances, and their shops. */
async function startTwo() {
  const apps = [await start(), await start()] as const;
  return { apps, shops: apps.map((app) => app.get(Shop)) };
}

/** Makes `count` calls to each of the shops at once. */
const crowd = <T>(shops: readonly Shop[], count: number, call: (shop: Shop, number: number) => Promise<T>) =>
  Promise.all(shops.flatMap((shop) => Array.from({ length: count }, (_, number) => call(shop, number))));

/** Declares tests of a Nest application with two instances. */
export function nestApplicationOn(on: TestedBackend): void {
  beforeAll(async () => {
    tested = on;
    await on.start();
  });
  afterAll(() => on.stop());
  beforeEach(() => {
    inside = new Inside();
    basePath = randomUUID();
  });

  describe(`a Nest application on ${on.name}, with two instances`, () => {
    it('runs a locked method one call at a time, with growing tokens', async () => {
      const { shops } = await startTwo();
      await crowd(shops, 30, (shop) => shop.place('42'));
      expect(inside.most).toBe(1);
      expect(inside.tokens).toHaveLength(60);
      expect(inside.tokens).toEqual([...new Set(inside.tokens)].sort((one, other) => (one < other ? -1 : 1)));
    });

    it('runs different keys beside each other', async () => {
      const { shops } = await startTwo();
      await crowd(shops, 10, (shop, number) => shop.place(`${number}`));
      expect(inside.most).toBeGreaterThan(1);
    });

    it('locks several keys, all or none, in opposite orders without a deadlock', async () => {
      const { shops } = await startTwo();
      await crowd(shops, 10, (shop, number) => (number % 2 === 0 ? shop.transfer('a', 'b') : shop.transfer('b', 'a')));
      expect(inside.most).toBe(1);
    });

    it('admits readers together, and a writer alone', async () => {
      const { shops } = await startTwo();
      const mayEnd = deferred();
      const reading = crowd(shops, 3, (shop) => shop.quote(mayEnd.promise));
      await expect.poll(() => inside.now).toBe(6);
      const writing = shops[0]?.reprice();
      mayEnd.resolve();
      await reading;
      expect(await writing).toBe(0);
    });

    it('runs as many calls as there are permits, and one a segment', async () => {
      const { shops } = await startTwo();
      await crowd(shops, 10, (shop) => shop.render());
      expect(inside.most).toBe(2);
      inside.most = 0;
      const segments = await crowd(shops, 10, (shop) => shop.deduct());
      expect(inside.most).toBe(2);
      expect(new Set(segments)).toEqual(new Set([0, 1]));
    });

    it('has one leader, and another one when it closes', async () => {
      const { apps, shops } = await startTwo();
      const leading = () => Promise.all(shops.map((shop) => shop.poll()));
      await expect.poll(leading).toContain(true);
      const led = await leading();
      expect(led.filter((isLeader) => isLeader)).toHaveLength(1);
      const leader = led.indexOf(true);
      await apps[leader]?.close();
      await expect.poll(() => shops[1 - leader]?.poll()).toBe(true);
      expect(await apps[1 - leader]?.get(LeaderElectionService).leader('poller')).toMatchObject({ isOwn: true });
    });

    it('runs a tick of @Cron once', async () => {
      const { shops } = await startTwo();
      const ticks = () => shops.flatMap(({ reported }) => reported);
      await expect.poll(() => ticks().length).toBeGreaterThanOrEqual(3);
      expect(new Set(ticks()).size).toBe(ticks().length);
    });

    it('delivers each item of a queue, shares a counter, and sells a stock once', async () => {
      const { apps } = await startTwo();
      const [coordination, other] = apps.map((app) => app.get(CoordinationService));
      await coordination?.queue<number>('parcels').putAll([1, 2, 3]);
      const taken = await Promise.all([other, coordination, other].map((one) => one?.queue<number>('parcels').take()));
      expect(taken.map((item) => item?.value)).toEqual(expect.arrayContaining([1, 2, 3]));
      await Promise.all(taken.map((item) => item?.ack()));
      await Promise.all([coordination, other].map((one) => one?.counter('sold').add(1)));
      expect(await coordination?.counter('sold').get()).toMatchObject({ value: 2 });
      const stocks = apps.map((app) => app.get(LockService).stock('coupons', { segments: 3 }));
      await stocks[0]?.restock(10);
      const sold = await Promise.all(Array.from({ length: 14 }, (_, place) => stocks[place % 2]?.deduct(1)));
      expect(sold.filter((sale) => sale)).toHaveLength(10);
    });

    it('answers 423 to a client whose key is held, and 201 after the release', async () => {
      const { apps } = await startTwo();
      const [client, holder] = apps;
      const lease = await holder.get(LockService).acquire('till');
      const answer = async () => (await request(client.getHttpServer()).post('/')).status;
      expect(await answer()).toBe(423);
      await lease.release();
      expect(await answer()).toBe(201);
    });

    it('leaves no lock on the server when it closes', async () => {
      const { apps, shops } = await startTwo();
      const lease = await apps[0].get(LockService).acquire('order/1');
      const waiting = shops[1]?.place('1');
      const refused = expect(waiting).rejects.toMatchObject({ code: 'LOCK_SHUTDOWN' });
      await expect.poll(() => apps[0].get(LockService).contenders('order/1')).toHaveLength(2);
      await apps[1].close();
      await refused;
      await lease.release();
      await apps[0].close();
      expect(await tested.left(basePath)).toBe(0);
    });
  });
}
