import 'reflect-metadata';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  Param,
  ParseIntPipe,
  Post,
  SetMetadata,
  UseGuards,
  Injectable,
} from '@nestjs/common';
import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Server } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import { currentLease, DistributedLock, LockLostError, LockService } from '../../lib/index.js';
import { startApp } from './app.js';

@Injectable()
class RoleGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    return this.reflector.get<string>('role', context.getHandler()) === context.switchToHttp().getRequest().query.role;
  }
}

@Controller('stock')
class StockController {
  constructor(readonly locks: LockService) {}

  @DistributedLock((id: number) => `above/${id}`)
  @Get('above/:id')
  @HttpCode(202)
  @Header('x-kept', 'yes')
  @SetMetadata('role', 'buyer')
  @UseGuards(RoleGuard)
  async above(@Param('id', ParseIntPipe) id: number) {
    return { id, type: typeof id, key: currentLease()?.key };
  }

  @Get('below/:id')
  @HttpCode(202)
  @Header('x-kept', 'yes')
  @SetMetadata('role', 'buyer')
  @UseGuards(RoleGuard)
  @DistributedLock((id: number) => `below/${id}`)
  async below(@Param('id', ParseIntPipe) id: number) {
    return { id, type: typeof id, key: currentLease()?.key };
  }

  @Post('busy')
  @DistributedLock('busy', { waitMs: 0 })
  async busy() {
    return 'ran';
  }

  @Post('lost')
  @DistributedLock('lost')
  async lost() {
    lostEntered.resolve();
    await new Promise<void>((resolve) => currentLease()?.signal.addEventListener('abort', () => resolve()));
    return 'ran';
  }
}

let lostEntered = deferred();

async function startStock() {
  const { app, backend } = await startApp({ controllers: [StockController], providers: [RoleGuard] });
  return { app, backend, http: request(app.getHttpServer() as Server) };
}

describe('a lock on an HTTP handler', () => {
  for (const place of ['above', 'below']) {
    it(`${place} @Get leaves pipes, status, headers, guards and metadata as they were`, async () => {
      const { http, backend } = await startStock();
      const answer = await http.get(`/stock/${place}/7?role=buyer`);
      expect(answer.status).toBe(202);
      expect(answer.headers['x-kept']).toBe('yes');
      expect(answer.body).toEqual({ id: 7, type: 'number', key: `${place}/7` });
      expect(backend.busyKeys).toEqual([]);
    });

    it(`${place} @Get: a request that a guard or a pipe refuses asks for no lock`, async () => {
      const { http, backend } = await startStock();
      expect((await http.get(`/stock/${place}/7?role=seller`)).status).toBe(403);
      expect((await http.get(`/stock/${place}/seven?role=buyer`)).status).toBe(400);
      expect(backend.requests).toEqual([]);
    });
  }

  it('answers 423 when another caller holds the key, without its name', async () => {
    const { app, http } = await startStock();
    await using _held = await app.get(LockService).acquire('busy');
    const answer = await http.post('/stock/busy');
    expect(answer.status).toBe(423);
    expect(answer.body.message).toBe('The resource is locked');
  });

  it('answers 503 when the lease was lost, without telling the client why', async () => {
    lostEntered = deferred();
    const { http, backend } = await startStock();
    const answering = http.post('/stock/lost').then((answer) => answer);
    await lostEntered.promise;
    backend.leaseOn('lost')?.lose(new LockLostError('lost', 'secret detail'));
    const answer = await answering;
    expect(answer.status).toBe(503);
    expect(JSON.stringify(answer.body)).not.toContain('secret detail');
  });
});
