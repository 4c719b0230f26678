import type { ShownKey, StateAnswer } from '../answers.js';
import { queueBlocks, sparkline } from './charts.js';
import { h } from './dom.js';
import type { Child, VNode } from './dom.js';
import { age, count, duration } from './format.js';
import { columns, heading, kindMark, nothing, ownerText, tile } from './parts.js';
import { addressOf, since, store } from './store.js';
import type { Sorting } from './store.js';

/** The functions that the view calls when somebody does something. */
export interface LocksCalls {
  readonly changed: () => void;
  readonly searched: () => void;
}

const SORTINGS: readonly (readonly [value: Sorting, name: string])[] = [
  ['waiting', 'Most waiting'],
  ['wait', 'Longest wait'],
  ['hold', 'Longest hold'],
  ['key', 'Key'],
];

/** All keys that are held or waited for. */
export function locksView(calls: LocksCalls): Child {
  const { state } = store;
  if (!state) return null;
  const rows = sortedKeys(state.keys);
  return [
    heading('Locks', 'Every key that is held or waited for in the cluster.'),
    tiles(),
    tools(calls),
    h('p', { class: 'count', 'aria-live': 'polite' }, countText(rows.length)),
    rows.length === 0 ? empty() : table(rows, calls),
  ];
}

function tiles(): VNode {
  const { state } = store;
  const history = state?.history ?? [];
  const oldest = Math.max(-1, ...(state?.keys ?? []).map(({ waitingSince }) => since(waitingSince) ?? -1));
  const { waits } = state?.process ?? {};
  const waiting = state?.waiting ?? 0;
  return h(
    'section',
    { class: 'tiles', 'aria-label': 'Numbers' },
    tile(
      'Held',
      count(state?.held ?? 0),
      sparkline(
        history.map(({ held }) => held),
        'soft',
      ),
    ),
    tile(
      'Waiting',
      count(waiting),
      sparkline(
        history.map((point) => point.waiting),
        'wait',
      ),
      waiting > 0 ? 'wait' : '',
    ),
    tile('Longest wait', oldest < 0 ? '–' : age(oldest), null, oldest > 10_000 ? 'wait' : ''),
    tile(
      'Wait p99 here',
      duration(waits?.p99Ms ?? null),
      sparkline(
        history.map(({ p99Ms }) => p99Ms),
        'soft',
      ),
    ),
  );
}

function tools(calls: LocksCalls): VNode {
  const { changed } = calls;
  return h(
    'form',
    { class: 'tools', role: 'search', on: { submit: (event) => event.preventDefault() } },
    search(calls),
    sorting(calls),
    h(
      'button',
      {
        type: 'button',
        class: 'toggle',
        'aria-pressed': String(store.onlyContended),
        on: {
          click: () => {
            store.onlyContended = !store.onlyContended;
            changed();
          },
        },
      },
      'Only contended',
    ),
  );
}

function search({ searched }: LocksCalls): VNode {
  return h(
    'label',
    { class: 'search' },
    h('span', { class: 'hidden' }, 'Find keys and holders'),
    h('input', {
      type: 'search',
      id: 'search',
      placeholder: 'Find a key, a method, a host',
      autocomplete: 'off',
      spellcheck: 'false',
      value: store.search,
      on: {
        input: (event) => {
          store.search = (event.target as HTMLInputElement).value;
          store.pinned = [];
          searched();
        },
      },
    }),
  );
}

function sorting({ changed }: LocksCalls): VNode {
  const chosen = (event: Event) => {
    store.sorting = (event.target as HTMLSelectElement).value as Sorting;
    store.pinned = [];
    changed();
  };
  return h(
    'label',
    {},
    h('span', { class: 'hidden' }, 'Order'),
    h(
      'select',
      { id: 'sorting', value: store.sorting, on: { change: chosen } },
      SORTINGS.map(([value, name]) => h('option', { key: value, value, selected: store.sorting === value }, name)),
    ),
  );
}

function countText(rows: number): string {
  const { state } = store;
  if (!state) return '';
  const more = state.total > state.keys.length ? ` of ${count(state.total)}` : '';
  if (isUnanswered()) return 'Looking …';
  const truncated = state.isTruncated ? '. There are more than one survey sees: search by the beginning of a key' : '';
  return `${count(rows)}${more} ${rows === 1 ? 'key' : 'keys'}${foundText(state)}${truncated}`;
}

function foundText({ isSearchAwaited, searchFault }: StateAnswer): string {
  if (store.search === '') return '';
  if (searchFault !== null) return ' found so far, the servers could not be read';
  return isSearchAwaited ? ' found so far, the answer is still awaited' : ' found';
}

/** Whether the rows are those of an earlier text. */
function isUnanswered(): boolean {
  return store.answered !== store.search;
}

function empty(): VNode {
  const { state, search, onlyContended } = store;
  if (state?.fault) return nothing('No overview', state.fault);
  if (!isUnanswered() && state?.searchFault)
    return nothing('No answer', `The servers could not be read about “${search}”: ${state.searchFault}`);
  if (isUnanswered() || state?.isSearchAwaited)
    return nothing('Still searching', `The answer about “${search}” is awaited.`);
  if (search !== '') return nothing('Nothing found', `No key, holder or waiting caller matches “${search}”.`);
  if (onlyContended) return nothing('Nobody waits', 'Keys that somebody waits for would be here.');
  return nothing('Nothing is locked', 'A key appears here as soon as somebody holds it, and goes when nobody does.');
}

function table(rows: readonly ShownKey[], { changed }: LocksCalls): VNode {
  const pin = (isPinned: boolean) => () => {
    store.isPinned = isPinned;
    store.pinned = isPinned ? rows.map(({ id }) => id) : [];
    if (!isPinned) changed();
  };
  return h(
    'table',
    {
      class: 'keys',
      on: { pointerenter: pin(true), pointerleave: pin(false), focusin: pin(true), focusout: pin(false) },
    },
    h('caption', { class: 'hidden' }, 'Keys that are held or waited for'),
    columns('Key', 'Holder', ['Held for', 'number'], 'Wait queue', ['Oldest wait', 'number']),
    h('tbody', {}, rows.map(row)),
  );
}

/** The key, with a link to its wait queue. A job's lock has no page: its runs are on the view of cron. */
function nameOf({ id, key, kind }: ShownKey): VNode {
  return kind === 'job'
    ? h('a', { class: 'mono', href: addressOf('cron') }, key)
    : h('a', { class: 'mono', href: addressOf('key', id) }, key);
}

function row(one: ShownKey): VNode {
  const { id, kind, holding, waiting, holders, heldSince, waitingSince } = one;
  const [holder] = holders;
  const others = holding - 1;
  return h(
    'tr',
    { key: `${kind} ${id}`, class: waiting > 0 ? 'contended' : null },
    h('th', { scope: 'row' }, nameOf(one), ' ', kindMark(kind)),
    h(
      'td',
      { class: 'holder' },
      holder ? ownerText(holder.owner, holder.isOwn) : h('span', { class: 'soft' }, 'nobody yet'),
      others > 0 && h('span', { class: 'soft' }, ` and ${others} more`),
    ),
    h('td', { class: 'number', 'data-name': 'Held for' }, age(since(heldSince))),
    h(
      'td',
      { class: 'queue' },
      queueBlocks(holding, waiting),
      h('span', { class: waiting > 0 ? 'wait' : 'soft' }, waiting > 0 ? `${count(waiting)} waiting` : 'nobody waits'),
    ),
    h('td', { class: `number ${waiting > 0 ? 'wait' : ''}`, 'data-name': 'Oldest wait' }, age(since(waitingSince))),
  );
}

/** Returns the rows in their order. While the pointer is over the table no row changes its place: new ones come last. */
export function sortedKeys(keys: readonly ShownKey[]): readonly ShownKey[] {
  const shown = keys.filter(({ waiting }) => !store.onlyContended || waiting > 0).toSorted(ORDERS[store.sorting]);
  if (!store.isPinned || store.pinned.length === 0) return shown;
  const places = new Map(store.pinned.map((id, at) => [id, at]));
  const placeOf = ({ id }: ShownKey) => places.get(id) ?? places.size;
  const sorted = shown.toSorted((one, other) => placeOf(one) - placeOf(other));
  store.pinned = sorted.map(({ id }) => id);
  return sorted;
}

const LAST = Number.MAX_SAFE_INTEGER;

const ORDERS: Readonly<Record<Sorting, (one: ShownKey, other: ShownKey) => number>> = {
  waiting: (one, other) => other.waiting - one.waiting || oldest(one, other) || byKey(one, other),
  wait: (one, other) => oldest(one, other) || byKey(one, other),
  hold: (one, other) => (one.heldSince ?? LAST) - (other.heldSince ?? LAST) || byKey(one, other),
  key: byKey,
};

function oldest(one: ShownKey, other: ShownKey): number {
  return (one.waitingSince ?? LAST) - (other.waitingSince ?? LAST);
}

function byKey(one: ShownKey, other: ShownKey): number {
  return one.key.localeCompare(other.key);
}
