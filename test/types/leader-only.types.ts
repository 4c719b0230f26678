/**
 * The methods with `@LeaderOnly` and its hooks that the compiler must accept and refuse. Nothing here runs; `tsc` is
 * the test.
 */
import { Interval } from '@nestjs/schedule';
import { Observable, of } from 'rxjs';
import { LeaderOnly, OnDeposed, OnElected } from '../../lib/index.js';
import type { Term } from '../../lib/index.js';

export class Accepted {
  @LeaderOnly('poller')
  @Interval(1_000)
  async poll() {}

  @LeaderOnly('poller', { onFollower: 'throw', onLost: 'ignore', connection: 'other' })
  async withResult(_batch: string): Promise<number> {
    return 1;
  }

  @LeaderOnly('poller')
  async mayBeSkipped(): Promise<number | undefined> {
    return 1;
  }

  @LeaderOnly('poller', { onFollower: 'throw' })
  stream(): Observable<number> {
    return of(1);
  }

  @OnElected('poller')
  async elected(term: Term) {
    await term.proclaim('here');
  }

  @OnDeposed('poller', { connection: 'other' })
  deposed() {}
}

export class Refused {
  // @ts-expect-error a sync method cannot wait
  @LeaderOnly('poller')
  sync() {}

  // @ts-expect-error a call that is skipped yields undefined
  @LeaderOnly('poller')
  async alwaysResult(): Promise<number> {
    return 1;
  }

  // @ts-expect-error the hook gets a term
  @OnElected('poller')
  elected(_batch: string) {}

  // @ts-expect-error not on a static method
  @OnDeposed('poller')
  static deposed() {}
}
