import 'reflect-metadata';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MikroORM } from '@mikro-orm/core';
import { ConflictException } from '@nestjs/common';
import type { INestApplicationContext, ModuleMetadata, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { eq, sql } from 'drizzle-orm';
import { LockModule, LockService, zookeeper } from 'nestjs-distributed-lock';
import { EmbeddedZooKeeper, LockTesting, LockTestingModule } from 'nestjs-distributed-lock/testing';
import { DataSource } from 'typeorm';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { TransactionalShop, TransactionalShopModule } from './cls-transactional.js';
import { DrizzleShop, DrizzleShopModule, STORE, stock } from './drizzle.js';
import type { Store } from './drizzle.js';
import { Stock as MikroOrmStock, MikroOrmShop, MikroOrmShopModule } from './mikro-orm.js';
import { Payments } from './shop.js';
import type { Shop } from './shop.js';
import { Stock, TypeOrmShop, TypeOrmShopModule } from './typeorm.js';

type Import = NonNullable<ModuleMetadata['imports']>[number];

const SKU = 'mug';

let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'transactions-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const newFile = () => pathToFileURL(join(folder, `${++files}.db`)).href;

/** An example, with the functions that fill and read its store. */
interface Example {
  readonly module: () => Import;
  readonly shop: Type<Shop>;
  fill(app: INestApplicationContext, units: number): Promise<unknown>;
  left(app: INestApplicationContext): Promise<number | undefined>;
}

const DRIZZLE = {
  async fill(app: INestApplicationContext, units: number) {
    const store = app.get<Store>(STORE, { strict: false });
    await store.run(sql`CREATE TABLE stock (sku TEXT PRIMARY KEY, units INTEGER NOT NULL, token INTEGER NOT NULL)`);
    await store.insert(stock).values({ sku: SKU, units, token: 0n });
  },
  async left(app: INestApplicationContext) {
    const store = app.get<Store>(STORE, { strict: false });
    const [row] = await store.select({ units: stock.units }).from(stock).where(eq(stock.sku, SKU));
    return row?.units;
  },
};

const EXAMPLES: Readonly<Record<string, Example>> = {
  'TypeORM on sql.js': {
    module: () => TypeOrmShopModule,
    shop: TypeOrmShop,
    fill: (app, units) => app.get(DataSource, { strict: false }).getRepository(Stock).insert({ sku: SKU, units }),
    left: async (app) =>
      (await app.get(DataSource, { strict: false }).getRepository(Stock).findOneByOrFail({ sku: SKU })).units,
  },
  'Drizzle on libSQL': { module: () => DrizzleShopModule.at(newFile()), shop: DrizzleShop, ...DRIZZLE },
  '@Transactional of nestjs-cls, with Drizzle': {
    module: () => TransactionalShopModule.at(newFile()),
    shop: TransactionalShop,
    ...DRIZZLE,
  },
  'MikroORM on libSQL': {
    module: () => MikroOrmShopModule,
    shop: MikroOrmShop,
    async fill(app, units) {
      const orm = app.get(MikroORM, { strict: false });
      await orm.schema.createSchema();
      await orm.em.fork().insert(MikroOrmStock, { sku: SKU, units, token: 0n });
    },
    left: async (app) =>
      (await app.get(MikroORM, { strict: false }).em.fork().findOneOrFail(MikroOrmStock, { sku: SKU })).units,
  },
};

async function start(example: Example, locks: Import) {
  const compiled = await Test.createTestingModule({ imports: [locks, example.module()] }).compile();
  const app = compiled.createNestApplication({ logger: ['error', 'warn'] });
  onTestFinished(() => app.close());
  await app.init();
  await example.fill(app, 10);
  return { app, shop: app.get(example.shop, { strict: false }), left: () => example.left(app) };
}

/** A hook that blocks the first paying call until the test releases it. */
function stall(app: INestApplicationContext) {
  const entered = deferred<void>();
  const goOn = deferred<void>();
  const charge = vi.spyOn(app.get(Payments, { strict: false }), 'charge').mockImplementationOnce(() => {
    entered.resolve();
    return goOn.promise;
  });
  onTestFinished(() => charge.mockRestore());
  return { entered: entered.promise, goOn: goOn.resolve };
}

describe.each(Object.entries(EXAMPLES))('%s', (_name, example) => {
  it('sells one unit per call, however many calls are concurrent', async () => {
    const { shop, left } = await start(example, LockTestingModule.forRoot());
    await Promise.all(Array.from({ length: 6 }, () => shop.take(SKU)));
    expect(await left()).toBe(4);
  });

  it('refuses the write of a holder whose lease was lost and whose successor has written', async () => {
    const { app, shop, left } = await start(example, LockTestingModule.forRoot());
    const { entered, goOn } = stall(app);
    const stale = expect(shop.take(SKU)).rejects.toThrow(ConflictException);
    await entered;
    app.get(LockTesting, { strict: false }).loseLease(`stock/${SKU}`);
    await shop.take(SKU);
    goOn();
    await stale;
    expect(await left()).toBe(9);
  });
});

it('commits under the lock with @Transactional of nestjs-cls below the lock on one method', async () => {
  const example = EXAMPLES['@Transactional of nestjs-cls, with Drizzle'] ?? expect.unreachable();
  const { app, left } = await start(example, LockTestingModule.forRoot());
  const shop = app.get(TransactionalShop, { strict: false });
  await Promise.all(Array.from({ length: 6 }, () => shop.putBack(SKU)));
  expect(await left()).toBe(16);
});

it('on ZooKeeper: the column refuses a holder whose key was taken away by force', async () => {
  await using server = await EmbeddedZooKeeper.start();
  const backend = zookeeper({ connectString: server.connectString });
  const example = EXAMPLES['Drizzle on libSQL'] ?? expect.unreachable();
  const { app, shop, left } = await start(example, LockModule.forRoot({ backend }));
  await Promise.all(Array.from({ length: 4 }, () => shop.take(SKU)));
  const { entered, goOn } = stall(app);
  const stale = expect(shop.take(SKU)).rejects.toThrow(ConflictException);
  await entered;
  await app.get(LockService, { strict: false }).revoke(`stock/${SKU}`, { graceMs: 0 });
  await shop.take(SKU);
  goOn();
  await stale;
  expect(await left()).toBe(5);
});
