import type { ShownQueue, ShownRun, ShownStock } from '../answers.js';
import { segmentBars, sparkline } from './charts.js';
import { h } from './dom.js';
import type { Child, VNode } from './dom.js';
import { age, count, counted, duration, moment } from './format.js';
import { chip, columns, heading, nothing, placeOf } from './parts.js';
import { serverNow, since, store } from './store.js';

/** The latest run of each job. */
export function cronView(ask: (action: 'forget', id: string, name: string) => void): Child {
  const { runs } = store.state ?? {};
  return [
    heading('Cron', 'The latest run of each job with @CronLock, whichever instance ran it.'),
    !runs || runs.length === 0
      ? nothing(runs ? 'No runs' : 'Not known', 'A job appears here after its first run under @CronLock.')
      : h(
          'table',
          { class: 'runs' },
          h('caption', { class: 'hidden' }, 'Latest runs of jobs'),
          columns('Job', 'State', 'Started', ['Took', 'number'], 'Tick', 'Where', ''),
          h(
            'tbody',
            {},
            runs.map((run) => runRow(run, ask)),
          ),
        ),
  ];
}

const TONES: Readonly<Record<string, 'good' | 'bad' | 'plain' | 'wait'>> = {
  done: 'plain',
  running: 'good',
  failed: 'bad',
  lost: 'bad',
  crashed: 'bad',
};

function runRow(run: ShownRun, ask: (action: 'forget', id: string, name: string) => void): VNode {
  const { id, name, tick, state, owner, attempt, startedAt, durationMs, error } = run;
  const now = serverNow();
  const mayForget = store.state?.actions.includes('forget') === true;
  return h(
    'tr',
    { key: id },
    h('th', { scope: 'row' }, h('span', { class: 'mono' }, name), error !== null && h('p', { class: 'error' }, error)),
    h(
      'td',
      {},
      chip(state, TONES[state] ?? 'plain'),
      attempt > 1 && h('span', { class: 'soft' }, ` attempt ${attempt}`),
    ),
    h('td', { class: 'time' }, moment(startedAt, now), h('span', { class: 'soft' }, ` · ${age(since(startedAt))} ago`)),
    h('td', { class: 'number' }, state === 'running' ? age(since(startedAt)) : duration(durationMs)),
    h('td', { class: 'time' }, tick === null ? '–' : moment(tick, now)),
    h('td', {}, placeOf(owner)),
    h(
      'td',
      {},
      mayForget &&
        h('button', { type: 'button', class: 'quiet', on: { click: () => ask('forget', id, name) } }, 'Forget …'),
    ),
  );
}

/** The queues and the number of their items. */
export function queuesView(): Child {
  const { queues = [] } = store.state ?? {};
  return [
    heading('Queues', 'Items of each queue, with those that are taken and not yet acknowledged.'),
    queues.length === 0
      ? nothing('No queues', 'A queue appears here when items are put into it.')
      : h(
          'table',
          { class: 'plain wide' },
          h('caption', { class: 'hidden' }, 'Queues'),
          columns('Queue', ['Items', 'number'], 'Since you look'),
          h('tbody', {}, queues.map(queueRow)),
        ),
  ];
}

function queueRow({ key, service, items }: ShownQueue): VNode {
  return h(
    'tr',
    { key: `${service} ${key}` },
    h(
      'th',
      { scope: 'row' },
      h('span', { class: 'mono' }, key),
      service !== null && h('span', { class: 'of' }, ` of ${service}`),
    ),
    h('td', { class: `number ${items > 0 ? 'strong' : ''}` }, count(items)),
    h('td', {}, sparkline(store.queueHistory.get(`${service} ${key}`) ?? [], 'soft')),
  );
}

/** The stocks and the units of their segments. */
export function stockView(): Child {
  const { stocks } = store.state ?? {};
  return [
    heading('Stock', 'Units that are left, one bar for each segment. Buyers move on from a segment that has run dry.'),
    !stocks || stocks.length === 0
      ? nothing(
          stocks ? 'No stock' : 'Not known',
          'A stock appears here after its first restock. A store of your own is not asked.',
        )
      : h('div', { class: 'grid' }, stocks.map(stock)),
  ];
}

function stock({ key, segments }: ShownStock): VNode {
  const units = segments.reduce((sum, one) => sum + one, 0);
  const dry = segments.filter((one) => one === 0).length;
  return h(
    'article',
    { class: 'panel', key },
    h('h2', { class: 'mono' }, key),
    h('p', { class: 'big' }, count(units), h('span', { class: 'soft' }, ` ${units === 1 ? 'unit' : 'units'} left`)),
    segmentBars(segments),
    h('p', { class: 'soft' }, dryText(segments.length, dry)),
  );
}

function dryText(segments: number, dry: number): Child {
  if (dry === 0) return counted(segments, 'segment');
  return [
    counted(segments, 'segment'),
    ' · ',
    h('span', { class: 'wait' }, dry === segments ? 'sold out' : `${dry} dry`),
  ];
}
