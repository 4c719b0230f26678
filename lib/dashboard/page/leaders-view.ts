import type { ShownKey } from '../answers.js';
import { h } from './dom.js';
import type { Child, VNode } from './dom.js';
import { age, counted } from './format.js';
import { heading, nothing, ownerText } from './parts.js';
import { since, store } from './store.js';

/** The elections, and which instance leads. */
export function leadersView(ask: (action: 'resign', id: string, name: string) => void): Child {
  const { state } = store;
  if (!state) return null;
  return [
    heading(
      'Leaders',
      'One instance leads in each election. The next candidate takes over when it resigns or is gone.',
    ),
    state.elections.length === 0
      ? nothing('No elections', 'Elections appear here when an instance campaigns, as for a method with @LeaderOnly.')
      : h(
          'div',
          { class: 'grid' },
          state.elections.map((one) => election(one, ask)),
        ),
  ];
}

function election(one: ShownKey, ask: (action: 'resign', id: string, name: string) => void): VNode {
  const { id, key, service, holders, waiting, heldSince } = one;
  const [leader] = holders;
  const mayResign = leader?.isOwn === true && store.state?.actions.includes('resign') === true;
  return h(
    'article',
    { class: 'panel', key: `${service} ${id}` },
    h('h2', {}, h('span', { class: 'mono' }, key), service !== null && h('span', { class: 'of' }, ` of ${service}`)),
    leader ? ownerText(leader.owner, leader.isOwn) : h('p', { class: 'wait' }, 'nobody leads'),
    h(
      'dl',
      { class: 'facts' },
      fact('Leads for', age(since(heldSince))),
      fact('Behind it', waiting === 0 ? 'no other candidate' : counted(waiting, 'candidate')),
    ),
    mayResign &&
      h('button', { type: 'button', class: 'quiet', on: { click: () => ask('resign', id, key) } }, 'Resign …'),
  );
}

/** A fact with its name, in a list of facts. */
export function fact(name: string, value: Child, tone = ''): VNode {
  return h('div', { key: name }, h('dt', {}, name), h('dd', { class: tone }, value));
}
