import type { Answer, Call, Version } from '../model/call.js';
import type { Specification } from './linearizability.js';

type On<K extends Call['on']> = Extract<Call, { on: K }>;

/** A call with its answer. Without an answer, the call may or may not have taken effect. */
export interface Answered<C extends Call> {
  readonly call: C;
  readonly answer: Answer | undefined;
}

interface Cell<T> {
  readonly value: T;
  readonly version: Version;
}

/** A shared value. Each write has the next version, the first one 0. When removed, it is the initial value again. */
export function valueFrom(initial: string): Specification<Cell<string>, Answered<On<'value'>>> {
  return {
    initial: { value: initial, version: 'absent' },
    textOf: ({ value, version }) => `${version}=${value}`,
    isRead: ({ call, answer }) => call.ask === 'get' || answer?.outcome === 'nothing',
    apply(cell, { call, answer }) {
      switch (call.ask) {
        case 'get':
          return fits(answer, cell) ? cell : undefined;
        case 'set':
          return written(cell, call.value);
        case 'remove':
          return this.initial;
        case 'compareAndSet': {
          const isSeen = call.version === cell.version;
          if (answer?.outcome === 'nothing') return isSeen ? undefined : cell;
          const next = written(cell, call.value);
          return isSeen && fits(answer, next) ? next : undefined;
        }
      }
    },
  };
}

/** A shared counter, which begins at 0. */
export const COUNTER: Specification<Cell<number>, Answered<On<'counter'>>> = {
  initial: { value: 0, version: 'absent' },
  textOf: ({ value, version }) => `${version}=${value}`,
  isRead: ({ call }) => call.ask === 'get',
  apply(cell, { call, answer }) {
    const next = call.ask === 'add' ? written(cell, cell.value + call.delta) : cell;
    return fits(answer, next) ? next : undefined;
  },
};

/** A barrier that is up or not. A wait that returned has seen it down. */
export const BARRIER: Specification<boolean, Answered<On<'barrier'>>> = {
  initial: false,
  textOf: String,
  isRead: ({ call }) => call.ask === 'wait' || call.ask === 'isUp',
  apply(isUp, { call, answer }) {
    switch (call.ask) {
      case 'raise':
        return true;
      case 'lift':
        return false;
      case 'wait':
        return isUp ? undefined : isUp;
      case 'isUp':
        return answer?.value === isUp ? isUp : undefined;
    }
  },
};

function written<T>({ version }: Cell<T>, value: T): Cell<T> {
  return { value, version: version === 'absent' ? 0 : version + 1 };
}

/** An unknown answer fits everything. */
function fits<T>(answer: Answer | undefined, { value, version }: Cell<T>): boolean {
  return answer === undefined || (answer.value === value && answer.version === version);
}
