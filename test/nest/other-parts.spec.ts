import 'reflect-metadata';
import fastifyHelmet from '@fastify/helmet';
import { Body, Controller, Get, Param, ParseIntPipe, Post, UseInterceptors, ValidationPipe } from '@nestjs/common';
import type { INestApplication, Type } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { ApiCreatedResponse, ApiOperation, ApiProperty, DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { HealthCheck, HealthCheckService, TerminusModule } from '@nestjs/terminus';
import { SkipThrottle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import type { ThrottlerModuleOptions } from '@nestjs/throttler';
import { Type as Typed } from 'class-transformer';
import { IsInt, IsString, Min, MinLength } from 'class-validator';
import helmet from 'helmet';
import { describe, expect, it } from 'vitest';
import { DistributedLock, key, LockInterceptor, ReadLock, Semaphore } from '../../lib/index.js';
import { LockHealthIndicator, LockHealthModule } from '../../lib/terminus/index.js';
import { serveDashboard } from './dashboard-app.js';
import { PLATFORMS } from './platforms.js';
import type { Platform } from './platforms.js';

const BOTH = Object.keys(PLATFORMS) as Platform[];
const LIMIT = 3;

class PlaceOrder {
  @ApiProperty()
  @IsString()
  @MinLength(1)
  id!: string;

  @ApiProperty({ minimum: 1 })
  @Typed(() => Number)
  @IsInt()
  @Min(1)
  count!: number;
}

class Order extends PlaceOrder {
  @ApiProperty()
  isPlaced!: boolean;
}

/** The arguments of the key functions so far. */
let seen: unknown[] = [];

const keyOf = (order: PlaceOrder) => {
  seen.push(order);
  return key`order/${order.id}`;
};

/** The wrappers of the controller's methods: locks, none, or some that lose what other decorators have written. */
type Wrapping = 'locks' | 'none' | 'forgetful';

const forgetful: MethodDecorator = (_target, _name, descriptor) => {
  const method = descriptor.value as (...args: unknown[]) => unknown;
  const wrapper = async (...args: unknown[]) => method(...args);
  return { ...descriptor, value: wrapper as never };
};

/** A controller with these wrappers. Its name is in Swagger's document. */
function ordersController(wrapping: Wrapping): Type {
  const locked = (lock: unknown) => ({ locks: lock, none: () => {}, forgetful })[wrapping] as MethodDecorator;

  @Controller('orders')
  class OrdersController {
    @locked(DistributedLock(keyOf))
    @Post()
    @ApiOperation({ summary: 'Places an order' })
    @ApiCreatedResponse({ type: Order })
    async place(@Body() order: PlaceOrder): Promise<Order> {
      return { ...order, isPlaced: true };
    }

    @Get(':number')
    @ApiOperation({ deprecated: true })
    @locked(ReadLock((number: number) => key`number/${(seen.push(number), number)}`))
    async look(@Param('number', ParseIntPipe) number: number): Promise<number> {
      return number;
    }

    @Post('around')
    @UseInterceptors(...(wrapping === 'locks' ? [LockInterceptor('around')] : []))
    async around(@Body() order: PlaceOrder): Promise<string> {
      return order.id;
    }

    @locked(Semaphore('pdf', { permits: 2 }))
    @Get(':id/pdf')
    async pdf(@Param('id') id: string): Promise<string> {
      return id;
    }
  }
  return OrdersController;
}

@Controller('health')
@SkipThrottle()
class HealthController {
  constructor(
    readonly health: HealthCheckService,
    readonly locks: LockHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  ready() {
    return this.health.check([() => this.locks.isHealthy('locks')]);
  }
}

async function withHelmet(app: INestApplication, platform: Platform): Promise<void> {
  if (platform === 'express') app.use(helmet());
  else await (app as NestFastifyApplication).register(fastifyHelmet);
}

interface Parts {
  readonly platform: Platform;
  readonly wrapping?: Wrapping;
  readonly throttlers?: ThrottlerModuleOptions;
}

/** One application with all of them, and the page. */
async function serveParts({ platform, wrapping = 'locks', throttlers = [{ ttl: 600_000, limit: LIMIT }] }: Parts) {
  seen = [];
  const served = await serveDashboard({
    platform,
    metadata: {
      imports: [ThrottlerModule.forRoot(throttlers), TerminusModule.forRoot({ logger: false }), LockHealthModule],
      controllers: [ordersController(wrapping), HealthController],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    },
    configure: async (app) => {
      await withHelmet(app, platform);
      app.useGlobalPipes(new ValidationPipe({ transform: true, whitelist: true, forbidNonWhitelisted: true }));
    },
  });
  const asked: string[] = [];
  served.locks.events.on('waiting', ({ request }) => asked.push(request.key));
  const place = (order: unknown, path = '/orders') =>
    fetch(`${served.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(order),
    });
  const document = () => SwaggerModule.createDocument(served.app, new DocumentBuilder().build());
  return { ...served, asked, place, document };
}

describe.each(BOTH)(
  'helmet, the throttler, Swagger, ValidationPipe and health checks beside locks on %s',
  (platform) => {
    it('let a request through to its lock, validated and transformed', async () => {
      const { place, asked, get } = await serveParts({ platform });
      const answer = await place({ id: 'a b', count: '2' });
      expect([answer.status, await answer.json()]).toEqual([201, { id: 'a b', count: 2, isPlaced: true }]);
      expect(await (await get('/orders/007')).json()).toBe(7);
      expect(asked).toEqual(['order/a b', 'number/7']);
      expect(seen).toEqual([expect.any(PlaceOrder), 7]);
      expect(seen[0]).toMatchObject({ count: 2 });
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
    });

    it('refuse before a lock is acquired: the pipe what is invalid, the guard what is too much', async () => {
      const { place, get, asked } = await serveParts({ platform });
      const refused = [
        await place({ id: '', count: 1 }),
        await place({ id: 'a', count: 1, more: 1 }),
        await get('/orders/x'),
      ];
      expect(refused.map(({ status }) => status)).toEqual([400, 400, 400]);
      for (let n = 0; n < LIMIT; n++) await place({ id: 'a', count: 1 });
      expect((await place({ id: 'b', count: 1 })).status).toBe(429);
      expect(asked).toEqual(Array.from({ length: asked.length }, () => 'order/a'));
      // The limit is one of a route: two of its requests were refused by the pipe.
      expect(asked).toHaveLength(LIMIT - 2);
      expect(seen.length).toBe(asked.length);
    });

    it('refuse after LockInterceptor has acquired its lock where a pipe refuses, and before where a guard does', async () => {
      const { place, asked } = await serveParts({ platform });
      expect((await place({ id: '' }, '/orders/around')).status).toBe(400);
      expect(asked).toEqual(['around']);
      for (let n = 1; n < LIMIT; n++) await place({ id: 'a', count: 1 }, '/orders/around');
      expect((await place({ id: 'a', count: 1 }, '/orders/around')).status).toBe(429);
      expect(asked).toHaveLength(LIMIT);
    });

    it('leave Swagger the same document with and without locks, and the page is not in it', async () => {
      const documentOf = async (wrapping: Wrapping) => (await serveParts({ platform, wrapping })).document();
      const document = await documentOf('locks');
      expect(document).toEqual(await documentOf('none'));
      expect(document).not.toEqual(await documentOf('forgetful'));
      expect(Object.keys(document.paths).toSorted()).toEqual([
        '/health',
        '/orders',
        '/orders/around',
        '/orders/{id}/pdf',
        '/orders/{number}',
      ]);
      const { post } = document.paths['/orders'] ?? {};
      expect(post).toMatchObject({ summary: 'Places an order', requestBody: expect.anything() as unknown });
      expect(document.components?.schemas).toHaveProperty('PlaceOrder');
      expect(document.paths['/orders/{number}']?.get?.deprecated).toBe(true);
    });

    it('serve the page with its own policy, beside the other headers of helmet, and never throttled', async () => {
      const { get, act } = await serveParts({ platform });
      for (let n = 0; n <= LIMIT; n++) {
        const page = await get('/locks');
        expect(page.status).toBe(200);
        expect(page.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
        expect(page.headers.get('strict-transport-security')).toContain('max-age');
        expect((await get('/locks/api/state')).status).toBe(200);
      }
      // The other routes have helmet's.
      expect((await get('/health')).headers.get('content-security-policy')).toMatch(/^default-src 'self'/);
      expect((await act('revoke', { id: 'a', graceMs: 0 })).status).toBe(403);
    });

    it('throttle the page under another name, unless skipIf leaves it out', async () => {
      const named = { name: 'burst', ttl: 600_000, limit: LIMIT };
      const throttled = await serveParts({ platform, throttlers: [named] });
      const statuses = async ({ get }: typeof throttled) => {
        const answers: number[] = [];
        for (let n = 0; n <= LIMIT; n++) answers.push((await get('/locks/api/state')).status);
        return answers;
      };
      expect((await statuses(throttled)).at(-1)).toBe(429);
      const left = await serveParts({
        platform,
        throttlers: {
          throttlers: [named],
          skipIf: (context) => context.switchToHttp().getRequest<{ url: string }>().url.startsWith('/locks'),
        },
      });
      expect(await statuses(left)).toEqual([200, 200, 200, 200]);
      expect((await left.place({ id: 'a', count: 1 })).status).toBe(201);
    });

    it('answer the health check, with counts of the locks that are held', async () => {
      const { get, locks } = await serveParts({ platform });
      const lease = await locks.acquire('a');
      for (let n = 0; n <= LIMIT; n++) {
        const answer = await get('/health');
        expect(answer.status).toBe(200);
        expect(await answer.json()).toMatchObject({ details: { locks: { status: 'up', held: 1 } } });
      }
      await lease.release();
    });
  },
);
