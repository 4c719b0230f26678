import type { Segment } from '../network/direction.js';
import { Fingerprint } from './fingerprint.js';
import type { MessagesUnderWay } from './messages-under-way.js';

/**
 * Numbers for the state that a run is in.
 *
 * A process does the same again when the same arrives at the same times, in the same order: its random numbers are its own,
 * and computation takes no time. So the state of everything is what has arrived at each process, and what time it is.
 */
export class States {
  readonly #messages: MessagesUnderWay;
  readonly #histories = new Map<string, Fingerprint>();
  readonly #versions = new Map<string, number>();
  #tree = 0;
  #madeNodes = false;

  constructor(messages: MessagesUnderWay) {
    this.#messages = messages;
  }

  arrived(now: number, from: string, to: string, segment: Segment): void {
    const history = this.#historyOf(placeOf(to)).long(now).text(from).text(to).text(segment.kind);
    if (segment.kind === 'bytes') history.bytes(segment.bytes);
  }

  /** Something else was done, before what arrives later at anybody. */
  happened(now: number, text: string): void {
    for (const history of this.#histories.values()) history.long(now).text(text);
  }

  /** @param text a transaction, as servers note it */
  committed(text: string): void {
    for (const change of text.slice(text.indexOf(':') + 2).split(', ')) {
      const [type = '', path = ''] = change.split(' ');
      if (path === '') continue;
      const version = this.#versions.get(path) ?? 0;
      if (type !== 'create') this.#tree ^= nodeOf(path, version);
      if (type !== 'delete') this.#tree ^= nodeOf(path, version + 1);
      this.#versions.set(path, version + 1);
      this.#madeNodes ||= type === 'create';
    }
  }

  /** Whether znodes were made since it was asked last. */
  takeMadeNodes(): boolean {
    const made = this.#madeNodes;
    this.#madeNodes = false;
    return made;
  }

  /** Of everything that the future hangs on. @param isOrdered also on the order in which messages arrive by default */
  complete(now: number, isOrdered: boolean): number {
    const state = new Fingerprint().long(now);
    for (const [process, history] of [...this.#histories].sort(byName)) state.text(process).long(history.value);
    if (!isOrdered) return state.value;
    for (const { direction, ordinal, isPassed } of this.#messages.enabled()) {
      state
        .text(direction.from)
        .text(direction.to)
        .number(ordinal)
        .number(isPassed ? 1 : 0);
    }
    return state.value;
  }

  /** Of what can be seen: the tree of the servers, who holds, and what is under way. */
  seen(holds: string): number {
    const state = new Fingerprint().number(this.#tree).text(holds);
    const underWay = this.#messages.enabled().map(({ direction: { from, to, next } }) => {
      const message = new Fingerprint().text(from).text(to);
      return (next?.kind === 'bytes' ? message.bytes(next.bytes) : message.text(next?.kind ?? '')).value;
    });
    for (const message of underWay.sort((a, b) => a - b)) state.long(message);
    return state.value;
  }

  #historyOf(name: string): Fingerprint {
    let history = this.#histories.get(name);
    if (!history) this.#histories.set(name, (history = new Fingerprint()));
    return history;
  }
}

/** All servers are one process. */
function placeOf(to: string): string {
  return /^\d/.test(to) ? 'servers' : to;
}

function nodeOf(path: string, version: number): number {
  return new Fingerprint(version).text(path).value | 0;
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
