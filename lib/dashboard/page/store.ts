import type { KeyAnswer, StateAnswer } from '../answers.js';

/** The orders of the table of locks. */
export type Sorting = 'waiting' | 'wait' | 'hold' | 'key';

/** A view of the page, as its address names it. */
export interface Route {
  readonly view: 'locks' | 'key' | 'leaders' | 'cron' | 'queues' | 'stock' | 'instance';
  /** The id of the key, on the view of one key. */
  readonly id: string;
}

/** A question that must be answered before an action is done. */
export interface Asking {
  readonly action: 'revoke' | 'resign' | 'forget';
  /** The connection whose data was shown when it was asked. */
  readonly connection: string;
  readonly id: string;
  /** The text that has to be typed. */
  readonly name: string;
  typed: string;
  graceSeconds: string;
  fault: string;
  isSending: boolean;
}

/** Everything that the page knows. Views are functions of it. */
export interface Store {
  route: Route;
  state: StateAnswer | undefined;
  /** The latest answer of each instance: behind a balancer, each poll may meet another one. */
  readonly instances: Map<string, StateAnswer>;
  /** The instance that was chosen on the view of instances. */
  instance: string | undefined;
  shownKey: KeyAnswer | undefined;
  connection: string;
  search: string;
  /** The text that the latest answer is about. */
  answered: string;
  sorting: Sorting;
  onlyContended: boolean;
  /** Whether the order of rows stays, because the pointer or the focus is in the table. */
  isPinned: boolean;
  pinned: readonly string[];
  link: 'connecting' | 'live' | 'paused' | 'failing' | 'missing' | 'refused';
  fault: string;
  /** The servers' clock less the browser's, in milliseconds. */
  clockOffset: number;
  asking: Asking | undefined;
  /** The numbers of items of queues, for their charts. */
  readonly queueHistory: Map<string, number[]>;
}

const VIEWS: readonly string[] = ['locks', 'leaders', 'cron', 'queues', 'stock', 'instance'];

export const store: Store = {
  route: routeOf(location.hash),
  state: undefined,
  instances: new Map(),
  instance: undefined,
  shownKey: undefined,
  connection: '',
  search: '',
  answered: '',
  sorting: 'waiting',
  onlyContended: false,
  isPinned: false,
  pinned: [],
  link: 'connecting',
  fault: '',
  clockOffset: 0,
  asking: undefined,
  queueHistory: new Map(),
};

/** Returns the time on the clock of the process that answers. */
export function serverNow(): number {
  return Date.now() + store.clockOffset;
}

/** Returns the age of a time of the process that answers, in milliseconds. */
export function since(at: number | null): number | null {
  return at === null ? null : Math.max(0, serverNow() - at);
}

/** Returns the view that a fragment of the address names. */
export function routeOf(hash: string): Route {
  const [, view = '', id = ''] = /^#\/([a-z]+)(?:\/(.*))?$/.exec(hash) ?? [];
  if (view === 'key') return { view, id: decoded(id) };
  return { view: VIEWS.includes(view) ? (view as Route['view']) : 'locks', id: '' };
}

/** Returns the address of a view. The document has a base, so a fragment alone would lead away from the page. */
export function addressOf(view: Route['view'], id = ''): string {
  return `${location.pathname}${location.search}#/${view}${id === '' ? '' : `/${encodeURIComponent(id)}`}`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
