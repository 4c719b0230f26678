import type { ShownEvent, ShownLoss, ShownProcess, StateAnswer } from '../answers.js';
import { chart, histogram, stateStrip } from './charts.js';
import { h } from './dom.js';
import type { Child, VNode } from './dom.js';
import { age, duration, moment } from './format.js';
import { fact } from './leaders-view.js';
import { chip, columns, heading, nothing, ownerText } from './parts.js';
import { serverNow, since, store } from './store.js';

const STRIP_MS = 600_000;

/** One instance of the application: its session, its rates, its latest events. */
export function instanceView(changed: () => void): Child {
  const shown = store.instances.get(store.instance ?? '') ?? store.state;
  if (!shown) return null;
  const { process, history } = shown;
  return [
    heading(nameOf(shown), 'The instance that has answered. It counts from the moment when somebody opens this page.'),
    store.instances.size > 1 && instances(shown, changed),
    session(shown),
    h(
      'div',
      { class: 'charts' },
      chart(
        'Leases granted',
        [{ name: 'a second', values: history.map(({ grants }) => grants), tone: 'soft' }],
        (value) => String(Math.round(10 * value) / 10),
      ),
      chart(
        'Wait for a lease',
        [
          { name: 'p50', values: history.map(({ p50Ms }) => p50Ms), tone: 'soft' },
          { name: 'p99', values: history.map(({ p99Ms }) => p99Ms), tone: 'wait' },
        ],
        duration,
      ),
      histogram('Waits', process.waits),
      histogram('Holds', process.holds),
    ),
    events(process.events),
    losses(shown.losses),
  ];
}

/** Returns the name of an instance. */
export function nameOf({ instance: { host, pid } }: StateAnswer): string {
  return host === null ? `pid ${pid}` : `${host} · ${pid}`;
}

function instances(shown: StateAnswer, changed: () => void): VNode {
  return h(
    'label',
    { class: 'instances' },
    `${store.instances.size} instances have answered. `,
    h(
      'select',
      {
        value: shown.instance.id,
        on: {
          change: (event) => {
            store.instance = (event.target as HTMLSelectElement).value;
            changed();
          },
        },
      },
      [...store.instances.values()].map((one) => {
        const { id } = one.instance;
        return h('option', { key: id, value: id, selected: id === shown.instance.id }, nameOf(one));
      }),
    ),
  );
}

function session(shown: StateAnswer): VNode {
  const { process, backend, connection, instance } = shown;
  const to = serverNow();
  return h(
    'section',
    { class: 'panel', 'aria-labelledby': 'session-title' },
    h('h2', { id: 'session-title' }, 'Session ', stateChip(process.state)),
    stateStrip(process.states, { from: to - STRIP_MS, to }),
    h('div', { class: 'scale', 'aria-hidden': 'true' }, h('span', {}, '10 min ago'), h('span', {}, 'now')),
    h(
      'dl',
      { class: 'facts wide' },
      fact('Backend', connection === 'default' ? backend : `${backend} (${connection})`),
      vitals(process),
      fact('Leases lost', String(process.lost), process.lost > 0 ? 'bad' : ''),
      fact('Waits timed out', String(process.timeouts), process.timeouts > 0 ? 'wait' : ''),
      fact('Node.js', instance.node),
    ),
  );
}

/** The state of a session, as a word with its colour. */
export function stateChip(state: string): VNode {
  return chip(state, state === 'connected' ? 'good' : state === 'suspended' ? 'wait' : 'bad');
}

function vitals({ vitals: known }: ShownProcess): Child {
  if (!known) return null;
  const { sessionId, server, timeoutMs, marginMs } = known;
  return [
    fact('Session', h('span', { class: 'mono' }, sessionId ?? '–')),
    fact('Server', server ?? '–'),
    fact('Session timeout', duration(timeoutMs)),
    h(
      'div',
      { key: 'margin' },
      h('dt', {}, 'Lease margin'),
      h('dd', {}, duration(marginMs), margin(timeoutMs, marginMs)),
    ),
  ];
}

/** The time that is left until leases would be lost, as a share of the session timeout. */
function margin(timeoutMs: number | null, marginMs: number | null): Child {
  if (!timeoutMs || marginMs === null) return null;
  const share = Math.min(1, Math.max(0, marginMs / timeoutMs));
  return h(
    'svg',
    {
      class: `margin ${share < 0.3 ? 'thin' : ''}`,
      viewBox: '0 0 100 6',
      'aria-hidden': 'true',
      preserveAspectRatio: 'none',
    },
    h('rect', { class: 'none', width: 100, height: 6, rx: 3 }),
    h('rect', { class: 'left', width: 100 * share, height: 6, rx: 3 }),
  );
}

function events(all: readonly ShownEvent[]): VNode {
  const now = serverNow();
  return h(
    'section',
    { 'aria-labelledby': 'events-title' },
    h('h2', { id: 'events-title' }, 'Latest events'),
    all.length === 0
      ? nothing(
          'Nothing happened',
          'Lost leases, time-outs, changes of the session and actions of this page would be here.',
        )
      : h(
          'table',
          { class: 'plain events' },
          h('caption', { class: 'hidden' }, 'Latest events of this instance'),
          columns('Time', 'Key', 'Event'),
          h(
            'tbody',
            {},
            all.map(({ at, level, what, key }, place) =>
              h(
                'tr',
                { key: `${at} ${all.length - place}`, class: level },
                h('td', { class: 'time' }, moment(at, now)),
                h('td', { class: 'mono' }, key ?? ''),
                h('td', {}, level === 'warn' && [chip('warning', 'wait'), ' '], what),
              ),
            ),
          ),
        ),
  );
}

function losses(all: readonly ShownLoss[] | null): VNode {
  const now = serverNow();
  return h(
    'section',
    { class: 'below', 'aria-labelledby': 'losses-title' },
    h('h2', { id: 'losses-title' }, 'Lost leases of all instances'),
    all === null || all.length === 0
      ? nothing(
          all === null ? 'Not known' : 'No loss is recorded',
          'The latest losses of the cluster would be here, also those of processes that have ended.',
        )
      : h(
          'table',
          { class: 'runs losses' },
          h('caption', { class: 'hidden' }, 'Latest losses of the cluster'),
          columns('Time', 'Keys', 'Lost by', 'Service', 'Reason'),
          h(
            'tbody',
            {},
            all.map((loss) => lossRow(loss, now)),
          ),
        ),
  );
}

function lossRow({ id, at, service, owner, keys, leases, reason }: ShownLoss, now: number): VNode {
  const more = leases - keys.length;
  return h(
    'tr',
    { key: id },
    h('td', { class: 'time' }, moment(at, now), h('span', { class: 'soft' }, ` · ${age(since(at))} ago`)),
    h('td', { class: 'mono' }, keys.join(', '), more > 0 && h('span', { class: 'soft' }, ` and ${more} more`)),
    h('td', {}, ownerText(owner)),
    h('td', {}, service ?? ''),
    h('td', {}, reason ?? ''),
  );
}
