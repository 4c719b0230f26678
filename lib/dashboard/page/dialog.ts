import { h, render } from './dom.js';
import type { Child, VNode } from './dom.js';
import { send } from './polling.js';
import { store } from './store.js';
import type { Asking } from './store.js';

const TEXTS: Readonly<Record<Asking['action'], { title: string; text: string; button: string }>> = {
  revoke: {
    title: 'Revoke this key?',
    text:
      'All holders are asked to let go. A holder that has not done so after the grace period loses the key by force. Until it notices, two may ' +
      'work at the same time, and only fencing tokens keep them apart.',
    button: 'Revoke',
  },
  resign: {
    title: 'Resign?',
    text: 'This instance gives up its leadership. The next candidate is elected, and this instance campaigns again.',
    button: 'Resign',
  },
  forget: {
    title: 'Forget the latest run?',
    text: 'The record of the latest run is deleted. The next firing runs, whatever its tick.',
    button: 'Forget',
  },
};

/** Asks whether an action is meant, and does it. The name has to be typed, so that no click does it by mistake. */
export class ActionDialog {
  readonly #element: HTMLDialogElement;
  readonly #done: () => void;

  constructor(element: HTMLDialogElement, done: () => void) {
    this.#element = element;
    this.#done = done;
    // Escape closes a dialog without a question.
    element.addEventListener('close', () => (store.asking = undefined));
  }

  open(action: Asking['action'], id: string, name: string): void {
    const connection = store.state?.connection ?? store.connection;
    store.asking = { action, connection, id, name, typed: '', graceSeconds: '10', fault: '', isSending: false };
    this.#render();
    this.#element.showModal();
    this.#element.querySelector('input')?.focus();
  }

  #render(): void {
    const { asking } = store;
    if (asking) render(this.#element, this.#form(asking));
  }

  #form(asking: Asking): VNode {
    const { title, text, button } = TEXTS[asking.action];
    const isReady = asking.typed === asking.name && !asking.isSending && graceOf(asking) !== undefined;
    return h(
      'form',
      { method: 'dialog', class: 'question', on: { submit: (event) => void this.#submit(event, asking) } },
      h('h2', { id: 'question-title' }, title),
      h('p', { class: 'mono name' }, asking.name),
      h('p', {}, text),
      asking.action === 'revoke' && this.#grace(asking),
      this.#field('Type the name to confirm', {
        id: 'typed',
        value: asking.typed,
        autocomplete: 'off',
        spellcheck: 'false',
        on: { input: (event) => this.#changed(asking, 'typed', event) },
      }),
      asking.fault !== '' && h('p', { class: 'bad', role: 'alert' }, asking.fault),
      h(
        'div',
        { class: 'buttons' },
        h('button', { type: 'button', on: { click: () => this.#element.close() } }, 'Cancel'),
        h('button', { type: 'submit', class: 'danger', disabled: !isReady }, button),
      ),
    );
  }

  #grace(asking: Asking): Child {
    return this.#field('Grace period in seconds, 0 to 60 (0: by force at once)', {
      id: 'grace',
      inputmode: 'numeric',
      value: asking.graceSeconds,
      on: { input: (event) => this.#changed(asking, 'graceSeconds', event) },
    });
  }

  #field(label: string, props: Parameters<typeof h>[1]): VNode {
    return h('label', { class: 'field' }, h('span', {}, label), h('input', { type: 'text', ...props }));
  }

  #changed(asking: Asking, field: 'typed' | 'graceSeconds', event: Event): void {
    asking[field] = (event.target as HTMLInputElement).value;
    this.#render();
  }

  async #submit(event: Event, asking: Asking): Promise<void> {
    event.preventDefault();
    const graceMs = graceOf(asking);
    if (asking.typed !== asking.name || graceMs === undefined || asking.isSending) return;
    asking.isSending = true;
    this.#render();
    try {
      const { connection, id } = asking;
      await send(asking.action, { connection, id, ...(asking.action === 'revoke' && { graceMs }) });
      this.#element.close();
      this.#done();
    } catch (error) {
      asking.isSending = false;
      asking.fault = error instanceof Error ? error.message : String(error);
      this.#render();
    }
  }
}

function graceOf({ graceSeconds }: Asking): number | undefined {
  const value = Number(graceSeconds);
  return graceSeconds.trim() !== '' && value >= 0 && value <= 60 ? Math.round(1_000 * value) : undefined;
}
