import { Logger } from '@nestjs/common';
import type { NamedLock, ResolvedTelemetryOptions } from './telemetry.options.js';

/** The name for all that came after the limit. */
export const OTHER = 'other';

const logger = new Logger('LockMetrics');

/** The values that one label has had. After a limit, new ones become `other`, so that no id can fill the memory. */
export class LimitedNames {
  readonly #label: string;
  readonly #most: number;
  readonly #known = new Set<string>();
  #hasWarned = false;

  constructor(label: string, most: number) {
    this.#label = label;
    this.#most = most;
  }

  /** Returns the name itself, or `other`. */
  limited(name: string): string {
    if (this.#known.has(name)) return name;
    if (this.#known.size < this.#most) {
      this.#known.add(name);
      return name;
    }
    this.#warn(name);
    return OTHER;
  }

  #warn(name: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    const shown = name.length > 80 ? `${name.slice(0, 80)}…` : name;
    logger.warn(
      `more than ${this.#most} names for the metrics' label "${this.#label}": "${shown}" and all further ones are ` +
        `"${OTHER}". Are labels made of ids? Set nameOf or maxNames of the metrics module`,
    );
  }
}

/** The names on metrics: those of locks, queues, barriers and stocks by `nameOf`, all of them limited in number. */
export class MetricNames {
  readonly #nameOf: ResolvedTelemetryOptions['nameOf'];
  readonly #most: number;
  readonly #byLabel = new Map<string, LimitedNames>();
  #hasFailed = false;

  constructor({ nameOf, maxNames }: Pick<ResolvedTelemetryOptions, 'nameOf' | 'maxNames'>) {
    this.#nameOf = nameOf;
    this.#most = maxNames;
  }

  /** Returns the value of `label` for a lock, a queue, a barrier or a stock. */
  of(label: 'lock' | 'queue' | 'barrier' | 'stock', named: NamedLock): string {
    return this.limited(label, this.#given(named) ?? named.label ?? (named.kind === 'lock' ? 'unnamed' : named.kind));
  }

  /** Returns the value of `label` for a name that the application has declared, such as a job's. */
  limited(label: string, name: string): string {
    let names = this.#byLabel.get(label);
    if (!names) this.#byLabel.set(label, (names = new LimitedNames(label, this.#most)));
    return names.limited(name);
  }

  #given(named: NamedLock): string | undefined {
    try {
      const name: unknown = this.#nameOf(named);
      return typeof name === 'string' && name !== '' ? name : undefined;
    } catch (error) {
      // Once: it is called for every acquisition.
      if (!this.#hasFailed) logger.error('nameOf of the metrics module has failed: a default name is used', error);
      this.#hasFailed = true;
      return undefined;
    }
  }
}
