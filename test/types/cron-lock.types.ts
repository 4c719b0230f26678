/** The methods with `@CronLock` that the compiler must accept and refuse. Nothing here runs; `tsc` is the test. */
import { Cron } from '@nestjs/schedule';
import { Observable, of } from 'rxjs';
import { CronLock } from '../../lib/index.js';

export class Accepted {
  @Cron('* * * * * *')
  @CronLock()
  async plain() {}

  @CronLock({ key: 'reports', atLeastMs: 1, atMostMs: 1, onCrash: 'rerun', attempts: 2, onUnavailable: 'throw' })
  @Cron('* * * * * *')
  declared(): Promise<void> {
    return Promise.resolve();
  }

  @CronLock()
  async withResult(): Promise<number | undefined> {
    return 1;
  }

  @CronLock()
  async withOnComplete(_onComplete: () => void) {}

  @CronLock()
  protected async hidden() {}

  @CronLock()
  unknownToTheCompiler() {
    return JSON.parse('1');
  }
}

export class Refused {
  // @ts-expect-error a job with @CronLock must be async
  @CronLock()
  sync() {}

  // @ts-expect-error a call that is skipped yields undefined
  @CronLock()
  async alwaysResult(): Promise<number> {
    return 1;
  }

  // @ts-expect-error a job with @CronLock must be async
  @CronLock()
  stream(): Observable<number> {
    return of(1);
  }

  // @ts-expect-error a job with @CronLock must be async
  @CronLock()
  async *generator() {
    yield 1;
  }

  // @ts-expect-error not on a static method
  @CronLock()
  static async all() {}

  // @ts-expect-error not on an accessor
  @CronLock()
  get got() {
    return 1;
  }

  // @ts-expect-error not on a property
  @CronLock()
  arrow = async () => {};

  // @ts-expect-error no such option
  @CronLock({ waitMs: 5 })
  async waiting() {}

  // @ts-expect-error 'skip' or 'rerun'
  @CronLock({ onCrash: 'retry' })
  async retried() {}
}
