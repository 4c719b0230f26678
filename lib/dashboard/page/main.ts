import type { KeyAnswer, StateAnswer } from '../answers.js';
import { ActionDialog } from './dialog.js';
import { h, render } from './dom.js';
import type { Child, VNode } from './dom.js';
import { count } from './format.js';
import { instanceView, nameOf, stateChip } from './instance-view.js';
import { keyView } from './key-view.js';
import { leadersView } from './leaders-view.js';
import { locksView } from './locks-view.js';
import { Poller, Refusal } from './polling.js';
import { cronView, queuesView, stockView } from './records-view.js';
import { addressOf, routeOf, store } from './store.js';
import type { Route } from './store.js';

const MOST_INSTANCES = 20;
const QUEUE_POINTS = 120;

const NAMES: readonly (readonly [view: Route['view'], name: string])[] = [
  ['locks', 'Locks'],
  ['leaders', 'Leaders'],
  ['cron', 'Cron'],
  ['queues', 'Queues'],
  ['stock', 'Stock'],
  ['instance', 'This instance'],
];

const app = document.createElement('div');
const question = document.createElement('dialog');
app.className = 'app';
question.setAttribute('aria-labelledby', 'question-title');
document.body.replaceChildren(app, question);

const poller = new Poller({
  addresses,
  onAnswers: ([state, shownKey], fault) => {
    store.link = 'live';
    store.fault = '';
    // The last answer about the key stays, and the page says that it is older.
    received(state as StateAnswer, fault === undefined ? (shownKey as KeyAnswer | undefined) : store.shownKey);
    if (fault !== undefined) failed(fault);
    draw();
  },
  onFault: (error) => {
    failed(error);
    draw();
  },
  onPause: () => (store.link = 'paused'),
  onClock: (offset) => {
    // Jitter of the network must not make ages jump.
    if (Math.abs(offset - store.clockOffset) > 500) store.clockOffset = offset;
  },
});
const dialog = new ActionDialog(question, () => poller.now());
const ask = dialog.open.bind(dialog);

function addresses(): readonly string[] {
  const { route, connection, search } = store;
  const state = new URLSearchParams({ connection, view: route.view, search });
  if (route.view !== 'key') return [`api/state?${state}`];
  return [`api/state?${state}`, `api/key?${new URLSearchParams({ connection, id: route.id })}`];
}

function received(state: StateAnswer, shownKey: KeyAnswer | undefined): void {
  store.state = state;
  // Another text would have ended the question: an answer is about the present one.
  store.answered = store.search;
  store.connection = state.connection;
  store.shownKey = shownKey;
  store.instances.set(state.instance.id, state);
  const [oldest] = store.instances.keys();
  if (store.instances.size > MOST_INSTANCES && oldest !== undefined) store.instances.delete(oldest);
  for (const { key, service, items } of state.queues) {
    const name = `${service} ${key}`;
    const points = store.queueHistory.get(name) ?? [];
    store.queueHistory.set(name, [...points, items].slice(-QUEUE_POINTS));
  }
}

function failed(error: unknown): void {
  const status = error instanceof Refusal ? error.status : 0;
  store.link = status === 401 || status === 403 ? 'refused' : status === 404 ? 'missing' : 'failing';
  store.fault = error instanceof Error ? error.message : String(error);
}

let isDrawing = false;

/** Draws everything. An element that goes may lose the focus, and ask for a drawing in the middle of one. */
function draw(): void {
  if (isDrawing) return queueMicrotask(draw);
  isDrawing = true;
  try {
    drawNow();
  } finally {
    isDrawing = false;
  }
}

function drawNow(): void {
  const { route } = store;
  const title =
    route.view === 'key' ? (store.shownKey?.key ?? 'Key') : NAMES.find(([view]) => view === route.view)?.[1];
  document.title = `${title ?? 'Locks'} · ${store.state?.waiting ? `${store.state.waiting} waiting` : 'locks'}`;
  render(
    app,
    h('a', { class: 'skip', href: `${location.href.split('#')[0]}#main`, on: { click: skip } }, 'Skip to the content'),
    side(),
    main(),
  );
}

function side(): VNode {
  const { state, route } = store;
  const current = route.view === 'key' ? 'locks' : route.view;
  return h(
    'header',
    { class: 'side' },
    h('a', { class: 'brand', href: addressOf('locks') }, mark(), 'Locks'),
    h(
      'nav',
      { 'aria-label': 'Views' },
      NAMES.map(([view, name]) =>
        h(
          'a',
          { key: view, href: addressOf(view), 'aria-current': current === view ? 'page' : null },
          name,
          badge(view),
        ),
      ),
    ),
    state && state.connections.length > 1 && connections(state),
    h(
      'div',
      { class: 'foot' },
      h('p', { class: `live ${store.link}`, role: 'status' }, h('i', {}), linkText()),
      state && h('p', { class: 'soft' }, nameOf(state)),
      state && h('p', { class: 'soft' }, `${state.backend} `, stateChip(state.process.state)),
    ),
  );
}

function mark(): VNode {
  return h(
    'svg',
    { viewBox: '0 0 16 16', class: 'mark', 'aria-hidden': 'true' },
    h('path', { d: 'M4.5 7V5a3.5 3.5 0 0 1 7 0v2', class: 'shackle' }),
    h('rect', { x: 2.5, y: 7, width: 11, height: 7.5, rx: 2 }),
  );
}

function badge(view: Route['view']): Child {
  const { state } = store;
  if (!state) return null;
  const numbers: Partial<Record<Route['view'], number>> = {
    locks: state.waiting,
    queues: state.queues.reduce((sum, { items }) => sum + items, 0),
    leaders: state.elections.length,
  };
  const number = numbers[view] ?? 0;
  const meaning = view === 'locks' ? 'waiting' : view === 'queues' ? 'items' : 'elections';
  return (
    number > 0 &&
    h(
      'span',
      { class: `badge ${view === 'locks' ? 'wait' : ''}` },
      count(number),
      h('span', { class: 'hidden' }, ` ${meaning}`),
    )
  );
}

function connections({ connections: names, connection }: StateAnswer): VNode {
  return h(
    'label',
    { class: 'connections' },
    h('span', {}, 'Connection'),
    h(
      'select',
      {
        id: 'connection',
        value: connection,
        on: {
          change: (event) => {
            store.connection = (event.target as HTMLSelectElement).value;
            // The key of this name on another connection is another one.
            store.shownKey = undefined;
            draw();
            poller.now();
          },
        },
      },
      names.map((name) => h('option', { key: name, value: name, selected: name === connection }, name)),
    ),
  );
}

function linkText(): string {
  switch (store.link) {
    case 'live':
      return 'live';
    case 'connecting':
      return 'connecting';
    case 'paused':
      return 'paused';
    case 'failing':
      return 'no answer, trying again';
    case 'refused':
      return 'refused';
    case 'missing':
      return 'not found';
  }
}

function main(): VNode {
  const { state, link, fault } = store;
  return h(
    'main',
    { id: 'main', tabindex: '-1' },
    link === 'refused' && h('p', { class: 'banner bad', role: 'alert' }, `You may not see this page: ${fault}`),
    link === 'missing' && h('p', { class: 'banner wait', role: 'status' }, `Not found: ${fault}.`),
    link === 'failing' &&
      h('p', { class: 'banner wait', role: 'status' }, `No answer: ${fault}. What you see is older.`),
    state?.fault && h('p', { class: 'banner wait', role: 'status' }, `The cluster is not seen: ${state.fault}`),
    state?.pathFault && h('p', { class: 'banner wait', role: 'status' }, `A path is not seen: ${state.pathFault}`),
    state?.process.state === 'suspended' &&
      h(
        'p',
        { class: 'banner wait', role: 'status' },
        'The session of this instance is suspended. No lease is lost yet.',
      ),
    state?.process.state === 'lost' &&
      h('p', { class: 'banner bad', role: 'status' }, 'The session of this instance is lost, and so are its leases.'),
    state
      ? h('div', { key: store.route.view, class: 'view' }, view())
      : link !== 'refused' && h('p', { class: 'soft' }, 'Looking …'),
  );
}

function view(): Child {
  switch (store.route.view) {
    case 'locks':
      return locksView({ changed: draw, searched });
    case 'key':
      return keyView(ask);
    case 'leaders':
      return leadersView(ask);
    case 'cron':
      return cronView(ask);
    case 'queues':
      return queuesView();
    case 'stock':
      return stockView();
    case 'instance':
      return instanceView(draw);
  }
}

function searched(): void {
  draw();
  poller.now();
}

function skip(event: Event): void {
  event.preventDefault();
  document.getElementById('main')?.focus();
}

window.addEventListener('hashchange', () => {
  store.route = routeOf(location.hash);
  store.shownKey = undefined;
  store.isPinned = false;
  draw();
  poller.now();
  // A screen reader says where it is.
  (document.querySelector<HTMLElement>('h1') ?? document.getElementById('main'))?.focus();
});
window.addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement;
  if (event.key !== '/' || isTyping || question.open) return;
  const search = document.getElementById('search');
  if (!search) return;
  event.preventDefault();
  search.focus();
});
// Ages tick without a request.
setInterval(() => document.hidden || draw(), 1_000);
draw();
poller.now();
