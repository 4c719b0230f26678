import 'reflect-metadata';
import { Controller, Get, Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { deferred } from '../../lib/async/deferred.js';
import {
  currentLease,
  currentTerm,
  getLeaderElectionToken,
  InjectLeaderElection,
  LeaderElectionService,
  LeaderOnly,
  LockLostError,
  LockModule,
  LockNotLeaderError,
  OnDeposed,
  OnElected,
} from '../../lib/index.js';
import type { Lease, Term } from '../../lib/index.js';
import { memory } from '../../lib/memory/memory.backend.js';
import { eventually } from '../support/eventually.js';
import { watchLog } from '../support/log-lines.js';
import { SharedBackend } from '../unit/elections/shared.backend.js';
import { started } from './app.js';

@Injectable()
class Poller {
  readonly log: string[] = [];
  readonly terms: (Lease | undefined)[] = [];
  readonly polled = deferred<bigint | undefined>();
  readonly ticked = deferred<bigint | undefined>();
  release: Promise<void> = Promise.resolve();

  @OnElected('poller')
  begin(term: Term) {
    this.log.push(`elected ${term.isHeld()}`);
  }

  @OnDeposed('poller')
  async end(term: Term) {
    this.log.push(`deposed ${term.isHeld()}`);
  }

  @LeaderOnly('poller')
  async poll(batch: string): Promise<string | undefined> {
    this.terms.push(currentTerm(), currentLease());
    this.log.push(`poll ${batch}`);
    await this.release;
    return `polled ${batch}`;
  }

  @LeaderOnly('poller')
  async pollTwice(): Promise<readonly (string | undefined)[] | undefined> {
    return [await this.poll('1'), await this.poll('2')];
  }

  @LeaderOnly('poller', { onFollower: 'throw' })
  async strict(): Promise<string> {
    return 'leads';
  }

  @LeaderOnly('poller')
  @Interval('above', 5)
  async above() {
    this.polled.resolve(currentTerm()?.fencingToken);
  }

  @Cron('* * * * * *')
  @LeaderOnly('poller')
  async below() {
    this.ticked.resolve(currentTerm()?.fencingToken);
  }
}

/** Starts applications that share a backend, like the instances of a cluster. */
async function startInstance(backend: SharedBackend, metadata: object = {}) {
  const imports = [ScheduleModule.forRoot(), LockModule.forRoot({ service: 'test', backend: backend.definition })];
  const app = await started(Test.createTestingModule({ imports, providers: [Poller], ...metadata }).compile());
  return { app, poller: app.get(Poller, { strict: false }), elections: app.get(LeaderElectionService) };
}

async function startTwo() {
  const backend = new SharedBackend();
  const leader = await startInstance(backend);
  await eventually(() => leader.poller.strict().catch(() => undefined), 'it leads');
  const follower = await startInstance(backend);
  await eventually(() => backend.standing('poller') === 2 || undefined, 'two candidates');
  return { backend, leader, follower };
}

describe('@LeaderOnly', () => {
  it('runs on the leader and is skipped elsewhere', async () => {
    const { leader, follower } = await startTwo();
    expect(await leader.poller.poll('a')).toBe('polled a');
    const [term, lease] = leader.poller.terms;
    expect([term?.key, lease === term]).toEqual(['poller', true]);
    expect(await follower.poller.poll('b')).toBeUndefined();
    expect(follower.poller.log).toEqual([]);
    await expect(follower.poller.strict()).rejects.toBeInstanceOf(LockNotLeaderError);
    expect(await leader.poller.pollTwice()).toEqual(['polled 1', 'polled 2']);
  });

  it('logs nothing; the election logs once that this instance does not lead', async () => {
    const { follower } = await startTwo();
    const log = watchLog();
    for (let call = 0; call < 3; call++) await follower.poller.poll('a');
    expect(log.debug.length).toBeLessThanOrEqual(1);
    expect(log.contexts).not.toContain('DistributedLock');
  });

  it('works above @Interval and below @Cron', async () => {
    const { leader } = await startTwo();
    const { fencingToken } = leader.elections.term('poller') ?? expect.unreachable();
    expect(await leader.poller.polled.promise).toBe(fencingToken);
    expect(await leader.poller.ticked.promise).toBe(fencingToken);
  });

  it('moves to the next instance when the leader shuts down and its run has ended', async () => {
    const { leader, follower } = await startTwo();
    const mayEnd = deferred();
    leader.poller.release = mayEnd.promise;
    const running = leader.poller.poll('last');
    const closing = leader.app.close();
    await eventually(
      async () => (await leader.poller.strict().catch(() => true)) === true || undefined,
      'no run begins',
    );
    expect(await follower.poller.poll('early')).toBeUndefined();
    mayEnd.resolve();
    await closing;
    expect(await running).toBe('polled last');
    expect(leader.poller.log.at(-1)).toBe('deposed true');
    await eventually(() => follower.poller.strict().catch(() => undefined), 'the next leads');
    expect(follower.poller.log[0]).toBe('elected true');
  });

  it('moves when the term is lost; the run is notified, and the hooks are called', async () => {
    const { backend, leader, follower } = await startTwo();
    const mayEnd = deferred();
    leader.poller.release = mayEnd.promise;
    const running = leader.poller.poll('overtaken');
    const reason = new LockLostError('poller', 'test');
    backend.leaseOn('poller')?.lose(reason);
    await eventually(() => follower.poller.strict().catch(() => undefined), 'the next leads');
    mayEnd.resolve();
    await expect(running).rejects.toBe(reason);
    await eventually(() => leader.poller.log.includes('deposed false') || undefined, 'deposed');
    await eventually(() => backend.standing('poller') === 2 || undefined, 'it stands again');
  });

  it('works on controllers, and other instances answer 503', async () => {
    @Controller()
    class Admin {
      @Get('run')
      @LeaderOnly('poller', { onFollower: 'throw' })
      async run(): Promise<string> {
        return 'done';
      }
    }
    const backend = new SharedBackend();
    const controllers = { controllers: [Admin] };
    const { app, poller } = await startInstance(backend, controllers);
    await eventually(() => poller.strict().catch(() => undefined), 'it leads');
    const follower = await startInstance(backend, controllers);
    const answers = await Promise.all([app, follower.app].map((one) => request(one.getHttpServer()).get('/run')));
    expect(answers.map(({ status }) => status)).toEqual([200, 503]);
  });

  it('lets every application with such a method campaign, even when a factory made the instance', async () => {
    const backend = new SharedBackend();
    const factory = { provide: Poller, useFactory: () => new Poller() };
    const { poller: made } = await startInstance(backend, { providers: [factory] });
    await eventually(() => made.strict().catch(() => undefined), 'it leads');
    expect(made.log).toEqual(['elected true']);
  });

  /** Work that the classes of the next tests override. */
  class Base {
    @LeaderOnly('inherited')
    async run(): Promise<string | undefined> {
      return 'ran';
    }
  }

  it('lets no application campaign for work that a subclass overrides before it calls super, and warns of it once', async () => {
    @Injectable()
    class Logged extends Base {
      override async run() {
        return `${await super.run()}, logged`;
      }
    }
    @Injectable()
    class Switched extends Base {
      override async run() {
        return undefined;
      }
    }
    const log = watchLog();
    const backend = new SharedBackend();
    const providers = [Poller, Switched, Logged, { provide: 'another', useClass: Logged }];
    const { app, poller, elections } = await startInstance(backend, { providers });
    await eventually(() => poller.strict().catch(() => undefined), 'it leads');
    expect([await app.get(Switched).run(), backend.standing('inherited')]).toEqual([undefined, 0]);
    expect(log.warn.flat().filter((line) => String(line).startsWith('@LeaderOnly'))).toEqual(
      ['Switched', 'Logged'].map(
        (name) =>
          `@LeaderOnly on Base.run makes no application campaign for ${name}, which overrides the method without @LeaderOnly, ` +
          'before super is called there: put it above the overriding method, too, to campaign from the start',
      ),
    );
    expect(await app.get(Logged).run()).toBe('undefined, logged');
    await eventually(() => elections.term('inherited'), 'it leads');
    expect(await app.get(Logged).run()).toBe('ran, logged');
  });

  it('lets an application campaign from its start for work whose overriding method is decorated, too', async () => {
    @Injectable()
    class Logged extends Base {
      @LeaderOnly('inherited')
      override async run(): Promise<string | undefined> {
        return `${await super.run()}, logged`;
      }
    }
    const log = watchLog();
    const { app, elections } = await startInstance(new SharedBackend(), { providers: [Poller, Logged] });
    await eventually(() => elections.term('inherited'), 'it leads');
    expect([await app.get(Logged).run(), log.warn]).toEqual(['ran, logged', []]);
  });

  it('leaves out a hook that a subclass overrides, and warns of it once', async () => {
    class Base {
      readonly log: string[] = [];

      @OnElected('poller')
      begin() {}

      @OnDeposed('poller')
      async end() {}
    }
    @Injectable()
    class Silent extends Base {
      override begin() {
        this.log.push('not called');
      }

      @OnDeposed('poller')
      override async end() {
        this.log.push('deposed');
      }
    }
    const log = watchLog();
    const providers = [Poller, Silent, { provide: 'another', useClass: Silent }];
    const { app, poller, elections } = await startInstance(new SharedBackend(), { providers });
    await eventually(() => poller.strict().catch(() => undefined), 'it leads');
    await elections.resign('poller');
    expect(app.get(Silent).log).toEqual(['deposed']);
    expect(log.warn.flat().filter((line) => String(line).startsWith('@On'))).toEqual([
      '@OnElected on Base.begin is not called for Silent, which overrides the method without @OnElected: ' +
        'put it above the overriding method, too',
    ]);
  });

  it('joins at its first call when its provider is request-scoped', async () => {
    @Controller({ scope: 2 })
    class PerRequest {
      @Get('run')
      @LeaderOnly('other')
      async run(): Promise<string | undefined> {
        return 'done';
      }
    }
    const { app } = await startInstance(new SharedBackend(), { controllers: [PerRequest] });
    const ask = async () => (await request(app.getHttpServer()).get('/run')).text;
    expect(await eventually(async () => (await ask()) || undefined, 'it leads')).toBe('done');
  });

  it('is per connection', async () => {
    @Injectable()
    class Second {
      constructor(@InjectLeaderElection('second') readonly elections: LeaderElectionService) {}

      @LeaderOnly('poller', { connection: 'second', onFollower: 'throw' })
      async run(): Promise<bigint | undefined> {
        return currentTerm()?.fencingToken;
      }
    }
    const imports = [
      LockModule.forRoot({ service: 'test', backend: memory() }),
      LockModule.forRoot({ service: 'test', backend: memory(), name: 'second' }),
    ];
    const app = await started(Test.createTestingModule({ imports, providers: [Second] }).compile());
    const second = app.get(Second);
    await eventually(() => second.run().catch(() => undefined), 'it leads');
    expect(second.elections).toBe(app.get(getLeaderElectionToken('second')));
    expect(second.elections.term('poller')).toBeDefined();
    expect(app.get(LeaderElectionService).term('poller')).toBeUndefined();
  });
});

describe('an election hook', () => {
  it('is called once, on the class that overrides it', async () => {
    class Overriding extends Poller {
      @OnElected('poller')
      override begin() {
        this.log.push('mine');
      }

      override async end() {
        this.log.push('not a hook');
      }
    }
    const backend = new SharedBackend();
    const provider = { provide: Poller, useClass: Overriding };
    const { app, poller } = await startInstance(backend, { providers: [provider] });
    await eventually(() => poller.strict().catch(() => undefined), 'it leads');
    await app.close();
    expect(poller.log).toEqual(['mine']);
  });
});

describe('start-up', () => {
  it.each([
    ['no LockModule', [], /LockModule\.forRoot/],
    ['a backend without elections', [LockModule.forRoot({ backend: bare() })], /"bare" holds no elections/],
  ])('fails with %s', async (_, imports, message) => {
    const starting = started(Test.createTestingModule({ imports, providers: [Poller] }).compile());
    await expect(starting).rejects.toThrow(message);
  });

  it.each([
    [() => LeaderOnly(''), /@LeaderOnly on X.run: the name must be text that is not empty/],
    [() => OnElected(7 as never), /@OnElected on X.run: the name/],
    [
      () => LeaderOnly('x', { onFollower: 'wait' as never }),
      /onFollower must be 'throw', 'skip' or a function of the context/,
    ],
    [() => LeaderOnly('x', { waitMs: 1 } as never), /unknown field "waitMs"/],
    [() => OnDeposed('x', { connection: '' }), /connection must be a name/],
  ])('refuses wrong arguments when the class is loaded (%#)', (decorate, message) => {
    class X {
      async run() {}
    }
    const descriptor = Object.getOwnPropertyDescriptor(X.prototype, 'run') ?? expect.unreachable();
    expect(() => (decorate() as MethodDecorator)(X.prototype, 'run', descriptor)).toThrow(message);
  });
});

function bare() {
  const create = () => {
    const { elections: _, ...without } = new SharedBackend().connection();
    return without;
  };
  return { name: 'bare', create: () => ({ ...create(), name: 'bare' }) };
}
