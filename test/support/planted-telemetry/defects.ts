import type { Edit } from '../edit.js';

/** A defect of what operators see, and the test that must find it. */
export interface TelemetryDefect extends Edit {
  readonly name: string;
  /** The spec with the test. */
  readonly spec: string;
  /** The title of the test, without those of its groups. */
  readonly test: string;
  /** A part of the message that it fails with. */
  readonly message: RegExp;
}

const METRICS = 'test/nest/metrics.spec.ts';
const TRACES = 'test/nest/opentelemetry.spec.ts';
const HEALTH = 'test/nest/terminus.spec.ts';
const EVENTS = 'test/unit/events/lock-events.spec.ts';

export const DEFECTS: readonly TelemetryDefect[] = [
  {
    name: 'a key is the name of a lock without a label',
    file: 'telemetry/metric-names.ts',
    replace: '?? named.label ??',
    by: '?? named.label ?? named.key ??',
    spec: METRICS,
    test: 'are labels, and never keys',
    message: /not to match \/secret/,
  },
  {
    name: 'names are not limited',
    file: 'telemetry/metric-names.ts',
    replace: 'if (this.#known.size < this.#most)',
    by: 'if (this.#known.size >= 0)',
    spec: METRICS,
    test: 'are limited: 10,000 labels are 201 names, with one warning',
    message: /10000 to be 201/,
  },
  {
    name: 'a lost lease stays held',
    file: 'telemetry/measured-locks.ts',
    replace: 'if (acquired) this.#endHold(acquired);',
    by: '',
    spec: METRICS,
    test: 'count a lost lease once, from 0, and hold it no more',
    message: /expected 1 to be \+?0/,
  },
  {
    name: 'what is held never goes down',
    file: 'telemetry/measured-locks.ts',
    replace: 'if (!place.leave()) return;',
    by: '',
    spec: METRICS,
    test: 'show what is held and waited for now',
    message: /expected 2 to be \+?0/,
  },
  {
    name: 'a caller waits for ever once it has been granted',
    file: 'telemetry/measured-locks.ts',
    replace: 'acquired.place.leave();\n    acquired.place = lock.held.join(acquired);',
    by: 'acquired.place = lock.held.join(acquired);',
    spec: METRICS,
    test: 'show what is held and waited for now',
    message: /expected 1 to be \+?0/,
  },
  {
    name: 'a leader leads for ever',
    file: 'telemetry/measured-work.ts',
    replace: "change === 'elected' ? 1 : 0",
    by: '1',
    spec: METRICS,
    test: 'show whether this application leads, and no waits or holds',
    message: /expected 1 to be \+?0/,
  },
  {
    name: 'a session has every state that it has had',
    file: 'telemetry/measured-session.ts',
    replace: 'value: one === state ? 1 : 0',
    by: "value: one === 'connected' || one === state ? 1 : 0",
    spec: METRICS,
    test: 'show its state, its losses and the time without a server',
    message: /deeply equal \[ \+?0, 1, \+?0 \]/,
  },
  {
    name: 'events of other applications are counted',
    file: 'service/lock-events.ts',
    replace: 'if (event.origin !== this.#origin) return;',
    by: '',
    spec: METRICS,
    test: 'counts its own application only',
    message: /deeply equal Set\{\}/,
  },
  {
    name: 'every failure of a listener is logged',
    file: 'service/lock-events.ts',
    replace: 'if (hasFailed) return;',
    by: '',
    spec: EVENTS,
    test: 'keeps the errors of listeners from the lock, and logs the first of each',
    message: /to deeply equal/,
  },
  {
    name: 'the parent of a hold is the request that released the key',
    file: 'opentelemetry/lock-spans.ts',
    replace: '{ startTime, attributes: granted }, traced.parent)',
    by: '{ startTime, attributes: granted }, context.active())',
    spec: TRACES,
    test: 'have the waiting request as their parent, and never the one that released the key',
    message: /to deeply equal/,
  },
  {
    name: 'the parent of a wait is the request that released the key',
    file: 'opentelemetry/lock-spans.ts',
    replace: '{ startTime: traced.startedAt, attributes }, traced.parent)',
    by: '{ startTime: traced.startedAt, attributes }, context.active())',
    spec: TRACES,
    test: 'have the waiting request as their parent, and never the one that released the key',
    message: /to deeply equal/,
  },
  {
    name: 'the span of a hold is not active during the work',
    file: 'opentelemetry/lock-spans.ts',
    replace: 'event.around((work) => context.with(active, work));',
    by: '',
    spec: TRACES,
    test: 'are a hold around the work, active inside, with what is known of the lease',
    message: /to deeply equal/,
  },
  {
    name: 'keys are on spans although they were unwanted',
    file: 'opentelemetry/lock-spans.ts',
    replace: '...(this.#options.recordKeys && {',
    by: '...({',
    spec: TRACES,
    test: 'have no key with recordKeys: false, in no attribute and no status',
    message: /not to contain 'secret'/,
  },
  {
    name: 'a suspended connection is down',
    file: 'terminus/lock-health.indicator.ts',
    replace: 'options.lost : options.suspended',
    by: 'options.lost : options.lost',
    spec: HEALTH,
    test: 'is degraded while suspended, which answers 200, and up again after it',
    message: /503|down/,
  },
  {
    name: 'a lost connection is up',
    file: 'terminus/lock-health.indicator.ts',
    replace: "if (state === 'connected') return 'up';",
    by: "if (state !== 'suspended') return 'up';",
    spec: HEALTH,
    test: 'is down while lost, which answers 503',
    message: /200|up/,
  },
];

/** The name of the project in which nothing is broken. */
export const SOUND = 'sound';
