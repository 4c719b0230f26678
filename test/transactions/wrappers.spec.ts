import 'reflect-metadata';
import { CreateRequestContext, EnsureRequestContext, Transactional as MikroTransactional } from '@mikro-orm/core';
import { Injectable, Logger } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { Transactional as ClsTransactional } from '@nestjs-cls/transactional';
import { UseCls } from 'nestjs-cls';
import { DistributedLock, OutsideLock } from 'nestjs-distributed-lock';
import { LockTestingModule } from 'nestjs-distributed-lock/testing';
import { Transactional as TypeOrmTransactional } from 'typeorm-transactional';
import { expect, it, onTestFinished, vi } from 'vitest';

/** The rows of the table in docs/transactions.md. */
const WRAPPERS: readonly (readonly [string, () => MethodDecorator])[] = [
  ['@Transactional of @nestjs-cls/transactional', () => ClsTransactional()],
  ['@Transactional of typeorm-transactional', () => TypeOrmTransactional()],
  ['@Transactional of MikroORM', () => MikroTransactional()],
  ['@CreateRequestContext of MikroORM', () => CreateRequestContext() as MethodDecorator],
  ['@EnsureRequestContext of MikroORM', () => EnsureRequestContext() as MethodDecorator],
  ['@UseCls of nestjs-cls', () => UseCls() as MethodDecorator],
];

/** Returns the warnings that are logged when an application with the class starts. */
async function warningsOf(service: new () => object): Promise<readonly string[]> {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  onTestFinished(() => warn.mockRestore());
  const imports = [LockTestingModule.forRoot()];
  const compiled = await Test.createTestingModule({ imports, providers: [service] }).compile();
  const app = compiled.createNestApplication({ logger: false });
  onTestFinished(() => app.close());
  await app.init();
  return warn.mock.calls.map(([message]) => String(message));
}

it.each(WRAPPERS)('warns about %s above a lock', async (_name, wrap) => {
  @Injectable()
  class Orders {
    @wrap()
    @DistributedLock('order')
    async place() {}
  }
  expect(await warningsOf(Orders)).toEqual([
    expect.stringContaining('@DistributedLock on Orders.place stands below a decorator that wraps the method'),
  ]);
});

it.each(WRAPPERS)('does not warn about %s below a lock, or in OutsideLock', async (_name, wrap) => {
  @Injectable()
  class Orders {
    @DistributedLock('order')
    @wrap()
    async place() {}

    @OutsideLock(wrap())
    @DistributedLock('order')
    async cancel() {}
  }
  expect(await warningsOf(Orders)).toEqual([]);
});

it('OutsideLock accepts each with its own type', async () => {
  @Injectable()
  class Orders {
    @OutsideLock(ClsTransactional())
    @OutsideLock(TypeOrmTransactional())
    @OutsideLock(MikroTransactional())
    @OutsideLock(CreateRequestContext())
    @OutsideLock(EnsureRequestContext())
    @OutsideLock(UseCls())
    @DistributedLock('order')
    async place() {}
  }
  expect(await warningsOf(Orders)).toEqual([]);
});
