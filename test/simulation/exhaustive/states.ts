import type { Segment } from '../network/direction.js';
import { Fingerprint } from './fingerprint.js';
import type { MessagesUnderWay } from './messages-under-way.js';

/**
 * Hashes of the state that a run is in.
 *
 * A process does the same again when the same data arrives at the same times, in the same order. Its random numbers are
 * its own, and computation takes no time. So the state of everything is what has arrived at each process, and the time.
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

  /** Records another event that precedes all later arrivals. */
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

  /** Whether znodes were created since the last call. */
  takeMadeNodes(): boolean {
    const made = this.#madeNodes;
    this.#madeNodes = false;
    return made;
  }

  /** A hash of everything that the future depends on. @param isOrdered includes the default order of messages */
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

  /** A hash of what is visible: the tree of the servers, the holds, and the messages under way. */
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

/** All servers run in one process. */
function placeOf(to: string): string {
  return /^\d/.test(to) ? 'servers' : to;
}

function nodeOf(path: string, version: number): number {
  return new Fingerprint(version).text(path).value | 0;
}

function byName([one]: [string, unknown], [other]: [string, unknown]): number {
  return one < other ? -1 : 1;
}
