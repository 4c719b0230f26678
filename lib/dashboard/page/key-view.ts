import type { KeyAnswer, ShownContender, ShownHold } from '../answers.js';
import { holdStrip } from './charts.js';
import { h } from './dom.js';
import type { Child, VNode } from './dom.js';
import { age, count, duration, moment } from './format.js';
import { chip, columns, nothing, ownerText, placeOf, remarks } from './parts.js';
import { addressOf, serverNow, since, store } from './store.js';

const STRIP_MS = 120_000;
const MOST_LISTED = 12;

/** One key: its wait queue as cards, the holder first, and its latest hand-overs. */
export function keyView(ask: (action: 'revoke', id: string, name: string) => void): Child {
  const { shownKey: line, route, state } = store;
  if (line?.id !== route.id) return h('p', { class: 'soft' }, 'Looking …');
  const mayRevoke = state?.actions.includes('revoke') === true;
  const isHeld = line.contenders.some((one) => one.state === 'held');
  return [
    h('a', { class: 'back', href: addressOf('locks') }, '← All locks'),
    h(
      'header',
      { class: 'heading with-action' },
      h('div', {}, h('h1', { class: 'mono', tabindex: '-1' }, line.key), h('p', {}, summary(line))),
      mayRevoke &&
        isHeld &&
        h(
          'button',
          { type: 'button', class: 'danger', on: { click: () => ask('revoke', line.id, line.key) } },
          'Revoke …',
        ),
    ),
    line.revocation &&
      h(
        'p',
        { class: 'banner wait', role: 'status' },
        `Revoking: the holders have ${duration(line.revocation.graceMs)} to let go, ${age(since(line.revocation.since))} are over.`,
      ),
    h('div', { class: 'two' }, queue(line), history(line.holds)),
  ];
}

function summary({ contenders, more }: KeyAnswer): string {
  const held = contenders.filter(({ state }) => state === 'held').length;
  const waiting = contenders.length - held + more;
  if (held + waiting === 0) return 'Free: nobody holds it, and nobody waits.';
  const holders = held === 0 ? 'Nobody holds it yet' : held === 1 ? 'One holder' : `${count(held)} holders`;
  return `${holders}, ${waiting === 0 ? 'nobody waits' : `${count(waiting)} waiting`}.`;
}

function queue({ contenders, more }: KeyAnswer): VNode {
  return h(
    'section',
    { 'aria-labelledby': 'queue-title' },
    h('h2', { id: 'queue-title' }, 'Wait queue'),
    contenders.length === 0
      ? nothing('The key is free', 'Holders and waiting callers would be here, in the order in which they came.')
      : h('ol', { class: 'cards' }, contenders.map(card)),
    more > 0 && h('p', { class: 'soft' }, `and ${count(more)} more`),
    contenders.length > 0 &&
      h('p', { class: 'hint' }, 'Callers of another process that share one contender appear as one.'),
  );
}

function card(one: ShownContender, at: number): VNode {
  const holds = one.state === 'held';
  return h(
    'li',
    {
      class: `card ${holds ? 'holds' : 'waits'} ${one.isLocal ? 'local' : ''}`,
      key: `${placeOf(one.owner)} ${one.since} ${at}`,
    },
    h('span', { class: 'position', 'aria-hidden': 'true' }, String(at + 1)),
    h('div', { class: 'card-owner' }, ownerText(one.owner, one.isOwn), h('span', { class: 'chips' }, remarks(one))),
    h(
      'div',
      { class: 'card-age' },
      chip(holds ? 'holds' : 'waits', holds ? 'plain' : 'wait'),
      h('b', {}, age(since(one.since))),
    ),
  );
}

function history(holds: readonly ShownHold[]): VNode {
  const to = serverNow();
  const listed = holds.toReversed().slice(0, MOST_LISTED);
  return h(
    'section',
    { 'aria-labelledby': 'holds-title' },
    h('h2', { id: 'holds-title' }, 'Hand-overs'),
    holdStrip(holds, { from: to - STRIP_MS, to }),
    h('div', { class: 'scale', 'aria-hidden': 'true' }, h('span', {}, '2 min ago'), h('span', {}, 'now')),
    listed.length === 0
      ? nothing('Nothing seen yet', 'Holds appear here from the moment when somebody looks at this page.')
      : h(
          'table',
          { class: 'plain' },
          h('caption', { class: 'hidden' }, 'Latest holds of the key'),
          columns('From', 'Holder', ['Held for', 'number']),
          h(
            'tbody',
            {},
            listed.map((hold, at) => holdRow(hold, at, to)),
          ),
        ),
    h('p', { class: 'hint' }, 'Holds of this instance are exact. Those of others are looked for once a second.'),
  );
}

function holdRow({ owner, mode, from, to }: ShownHold, at: number, now: number): VNode {
  return h(
    'tr',
    { key: `${from} ${at}` },
    h('td', { class: 'time' }, moment(from, now)),
    h('td', {}, ownerText(owner), mode === 'read' && [' ', chip('reads')]),
    h('td', { class: 'number' }, to === null ? h('b', {}, age(now - from)) : duration(to - from)),
  );
}
