import { Injectable, Module } from '@nestjs/common';
import { Cron, ScheduleModule } from '@nestjs/schedule';
import {
  CronLock,
  DistributedLock,
  getLockServiceToken,
  InjectLocks,
  LeaderOnly,
  LockExceptionFilter,
  LockInterceptor,
  LockModule,
  LockService,
  zookeeper,
} from '../../../lib/index.js';
import { memory } from '../../../lib/memory/memory.backend.js';
import { boot, refusalOf, unchecked, warningsOf } from './mistake.js';
import type { Mistakes } from './mistake.js';

@Injectable()
class Orders {
  @DistributedLock('order')
  async place() {}
}

@Injectable()
class Reports {
  @DistributedLock('report', { connection: 'reports' })
  async write() {}
}

@Injectable()
class Asking {
  constructor(readonly locks: LockService) {}
}

@Injectable()
class AskingByName {
  constructor(@InjectLocks('reports') readonly locks: LockService) {}
}

/** Wraps the method like a decorator of transactions. */
function Transactional() {
  return (_target: object, _name: string, descriptor: PropertyDescriptor) => {
    const original: unknown = descriptor.value;
    descriptor.value = function transactional(this: unknown, ...args: unknown[]) {
      return Reflect.apply(original as () => unknown, this, args);
    };
  };
}

@Injectable()
class Wrapped {
  @Transactional()
  @DistributedLock('order')
  async place() {}
}

@Injectable()
class Poller {
  @LeaderOnly('poller')
  async poll() {}
}

@Injectable()
class Unscheduled {
  @CronLock()
  async clean() {}
}

@Injectable()
class Cleanup {
  @Cron('0 0 * * * *')
  @CronLock({ key: 'cleanup' })
  async clean() {}
}

@Injectable()
class Sweep {
  @Cron('0 0 * * * *')
  @CronLock({ key: 'cleanup' })
  async sweep() {}
}

const locks = (options: object = {}) => LockModule.forRoot({ service: 'shop', backend: memory(), ...options });

@Module({ imports: [LockModule] })
class AppModule {}

const fromFactory = (options: unknown) => LockModule.forRootAsync({ useFactory: () => unchecked(options) });

/** Returns the error that keeps the application from starting, or the warnings of its start. */
export const STARTED: Mistakes = {
  'no-lock-module': () => refusalOf(() => boot({ providers: [Orders] })),
  'no-lock-module-injected': () => refusalOf(() => boot({ providers: [Asking] })),
  'no-such-connection': () => refusalOf(() => boot({ imports: [locks()], providers: [Reports] })),
  'no-such-connection-injected': () => refusalOf(() => boot({ imports: [locks()], providers: [AskingByName] })),
  'no-such-connection-provided': () =>
    refusalOf(() => boot({ imports: [locks()], providers: [{ provide: 'reports', useFactory: () => new Reports() }] })),
  'lock-module-itself': () => refusalOf(() => boot({ imports: [AppModule] })),
  'registered-twice': () => refusalOf(() => boot({ imports: [locks(), locks()] })),
  'no-backend': () => refusalOf(() => boot({ imports: [LockModule.forRoot(unchecked({}))] })),
  'backend-from-factory': () => refusalOf(() => boot({ imports: [fromFactory(zookeeper())] })),
  'nothing-from-factory': () => refusalOf(() => boot({ imports: [fromFactory(undefined)] })),
  'extra-from-factory': () => refusalOf(() => boot({ imports: [fromFactory({ backend: memory(), name: 'reports' })] })),
  'no-factory': () => refusalOf(() => LockModule.forRootAsync(unchecked({}))),
  'servers-beside-the-backend': () => refusalOf(() => boot({ imports: [locks({ connectString: 'zk1:2181' })] })),
  'filter-made-with-new': () => refusalOf(() => new (unchecked<new () => object>(LockExceptionFilter))()),
  'interceptor-given-as-instance': () =>
    refusalOf(() => unchecked<{ intercept(): void }>(LockInterceptor('order')).intercept()),
  'lock-below-a-wrapper': () => warningsOf(() => boot({ imports: [locks()], providers: [Wrapped] })),
  'unknown-module-option': () => refusalOf(() => boot({ imports: [locks({ waitms: 5 })] })),
  'no-service': () => refusalOf(() => boot({ imports: [locks({ service: undefined })], providers: [Poller] })),
  'no-schedule': () => refusalOf(() => boot({ imports: [locks()], providers: [Unscheduled] })),
  'no-schedule-module': () => warningsOf(() => boot({ imports: [locks()], providers: [Cleanup] })),
  'two-jobs-one-key': () =>
    refusalOf(() => boot({ imports: [ScheduleModule.forRoot(), locks()], providers: [Cleanup, Sweep] })),
  'mocked-service': () =>
    refusalOf(async () => {
      const stub = { provide: getLockServiceToken(), useValue: {} };
      await (await boot({ providers: [Orders, stub] })).get(Orders).place();
    }),
};
