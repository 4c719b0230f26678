import { Logger } from '@nestjs/common';
import { isObservable } from 'rxjs';
import type { DecoratedPlace } from './decorated-place.js';
import { isStream } from './held-stream.js';

const logger = new Logger('DistributedLock');

/**
 * Warns once about a method whose callers get a promise although the method returned something else. The compiler
 * refuses most of these methods, but not all compilers check types.
 */
export class ResultCheck {
  readonly #at: DecoratedPlace;
  #hasWarned = false;

  constructor(at: DecoratedPlace) {
    this.#at = at;
  }

  /** @returns the result unchanged */
  checked(result: unknown): unknown {
    const then: unknown = typeof result === 'object' && result !== null && 'then' in result ? result.then : undefined;
    if (typeof then !== 'function' && !this.#hasWarned) this.#warn(result);
    return result;
  }

  #warn(result: unknown): void {
    this.#hasWarned = true;
    logger.warn(`${this.#at.title}: ${this.#remedyFor(result)}`);
  }

  #remedyFor(result: unknown): string {
    if (isObservable(result)) return this.#observableRemedy();
    if (isStream(result)) return 'the method returned a stream, and its callers get a Promise of it: write async *';
    return 'the method returned no Promise, and its callers get one: getting a lock takes time. Declare the method async';
  }

  #observableRemedy(): string {
    const isEmitted = Reflect.hasMetadata('design:type', this.#at.prototype, this.#at.name);
    const first = isEmitted ? '' : 'Set "emitDecoratorMetadata": true in tsconfig.json. ';
    const remedy = `${first}Write the return type ": Observable<…>" at the method, and import Observable without "type"`;
    return `the method returned an Observable, and its callers get a Promise of it. ${remedy}`;
  }
}
