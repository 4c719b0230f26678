import type { ShownContender, ShownOwner } from '../answers.js';
import { h } from './dom.js';
import type { Child, VNode } from './dom.js';

/** A word with a colour. The word says it all: the colour only helps to find it. */
export function chip(word: string, tone: 'plain' | 'wait' | 'bad' | 'good' | 'own' = 'plain'): VNode {
  return h('span', { class: `chip ${tone}` }, word);
}

/** The call and the process behind a contender. */
export function ownerText(owner: ShownOwner, isOwn = false): VNode {
  const { label } = owner;
  return h(
    'span',
    { class: 'owner' },
    h('span', { class: 'label' }, label ?? placeOf(owner)),
    h('span', { class: 'place' }, label !== null && placeOf(owner), isOwn && [' ', chip('this instance', 'own')]),
  );
}

/** The process behind a contender, as text. */
export function placeOf({ host, pid }: ShownOwner): string {
  if (host === null && pid === null) return 'a client that does not say who it is';
  return [host, pid === null ? null : `pid ${pid}`].filter((part) => part !== null).join(' · ');
}

/** The words on a contender beside whether it holds or waits. */
export function remarks({ mode, permits, isKept, isLocal }: ShownContender): VNode[] {
  const words = [
    mode === 'read' ? 'reads' : mode === 'write' ? 'writes' : null,
    mode === 'permit' ? `${permits ?? 1} ${permits === null || permits === 1 ? 'permit' : 'permits'}` : null,
    isKept ? 'kept warm, not in use' : null,
    isLocal ? 'local queue' : null,
  ];
  return words.filter((word) => word !== null).map((word) => chip(word));
}

/** The text that a view shows when there is nothing. It says what would be here. */
export function nothing(title: string, explanation: string): VNode {
  return h('div', { class: 'nothing' }, h('p', { class: 'nothing-title' }, title), h('p', {}, explanation));
}

/** A heading with its explanation. */
export function heading(title: string, explanation: Child): VNode {
  return h('header', { class: 'heading' }, h('h1', { tabindex: '-1' }, title), h('p', {}, explanation));
}

/** A number that matters, with its name. */
export function tile(name: string, value: Child, more: Child = null, tone = ''): VNode {
  return h(
    'div',
    { class: `tile ${tone}` },
    h('span', { class: 'tile-name' }, name),
    h('span', { class: 'tile-value' }, value),
    more,
  );
}

/** The column heads of a table. */
export function columns(...names: (string | readonly [name: string, className: string])[]): VNode {
  const cells = names.map((name) =>
    typeof name === 'string' ? h('th', { scope: 'col' }, name) : h('th', { scope: 'col', class: name[1] }, name[0]),
  );
  return h('thead', {}, h('tr', {}, cells));
}

/** The mark of a kind of key that is not a plain lock. */
export function kindMark(kind: string): Child {
  return kind === 'lock' ? null : chip(kind);
}
