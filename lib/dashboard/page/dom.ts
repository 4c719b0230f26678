/** The properties of an element. A value that is `null`, `undefined` or `false` leaves the attribute out. */
export interface Props {
  readonly key?: string | number;
  readonly on?: Readonly<Record<string, (event: Event) => void>>;
  readonly [attribute: string]: unknown;
}

/** An element, or a text, as it should be. */
export interface VNode {
  readonly tag: string;
  readonly props: Props;
  readonly children: readonly VNode[];
  readonly text: string;
}

/** A result of a view: elements, texts, and nothing. */
export type Child = VNode | string | number | null | undefined | false | readonly Child[];

const TEXT = '#text';
const SVG = 'http://www.w3.org/2000/svg';
const SVG_TAGS = new Set(['svg', 'g', 'path', 'rect', 'circle', 'line', 'polyline', 'polygon', 'title', 'text']);

/** Returns an element as it should be. Text stays text, whatever it contains: nothing here makes HTML of it. */
export function h(tag: string, props: Props = {}, ...children: Child[]): VNode {
  return { tag, props, children: flat(children), text: '' };
}

function flat(children: readonly Child[]): VNode[] {
  return children.flatMap((child): VNode[] => {
    if (child === null || child === undefined || child === false) return [];
    if (Array.isArray(child)) return flat(child as readonly Child[]);
    if (typeof child === 'object') return [child as VNode];
    return [{ tag: TEXT, props: {}, children: [], text: String(child) }];
  });
}

interface Mounted {
  vnode: VNode;
  readonly node: Element | Text;
}

const mounted = new WeakMap<Element, Mounted[]>();
const listeners = new WeakMap<Element, Record<string, (event: Event) => void>>();

/** Changes the children of an element to these. Elements with the same key stay, and so does the focus in them. */
export function render(parent: Element, ...children: Child[]): void {
  const focused = document.activeElement;
  patch(parent, flat(children));
  // An element that was moved has lost the focus.
  if (focused instanceof HTMLElement && focused !== document.activeElement && focused.isConnected) {
    focused.focus({ preventScroll: true });
  }
}

function patch(parent: Element, next: readonly VNode[]): void {
  const before = mounted.get(parent);
  if (!before) parent.replaceChildren();
  const old = new Map((before ?? []).map((one, at) => [nameOf(one.vnode, at), one]));
  const now = next.map((vnode, at) => {
    const name = nameOf(vnode, at);
    const one = old.get(name);
    if (!one) return mount(vnode);
    old.delete(name);
    update(one, vnode);
    return one;
  });
  old.forEach(({ node }) => node.remove());
  place(
    parent,
    now.map(({ node }) => node),
  );
  mounted.set(parent, now);
}

/** Brings children into their order. An element that is moved appears anew, so as few as possible are. */
function place(parent: Element, nodes: readonly (Element | Text)[]): void {
  let present = parent.firstChild;
  for (const node of nodes) {
    // A child that goes further back is taken out, instead of all that come forward.
    if (present && present !== node && present.nextSibling === node) {
      present.remove();
      present = node;
    }
    if (present === node) present = node.nextSibling;
    else parent.insertBefore(node, present);
  }
}

function nameOf({ tag, props: { key } }: VNode, at: number): string {
  return key === undefined ? `${tag} ${at}` : `${tag} key ${key}`;
}

function mount(vnode: VNode): Mounted {
  const { tag, text, children } = vnode;
  if (tag === TEXT) return { vnode, node: document.createTextNode(text) };
  const node = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  setProps(node, {}, vnode.props);
  patch(node, children);
  return { vnode, node };
}

function update(one: Mounted, vnode: VNode): void {
  const { node } = one;
  if (node instanceof Text) {
    if (node.data !== vnode.text) node.data = vnode.text;
  } else {
    setProps(node, one.vnode.props, vnode.props);
    patch(node, vnode.children);
  }
  one.vnode = vnode;
}

function setProps(node: Element, before: Props, props: Props): void {
  for (const name of Object.keys(before)) if (!(name in props)) setAttribute(node, name, null);
  for (const [name, value] of Object.entries(props)) {
    if (name === 'key') continue;
    else if (name === 'on') listen(node, props.on ?? {});
    else if (value !== before[name]) setAttribute(node, name, value);
  }
}

function setAttribute(node: Element, name: string, value: unknown): void {
  if (name === 'value' && isField(node)) {
    const text = textOf(value);
    if (node.value !== text) node.value = text;
    return;
  }
  if (value === null || value === undefined || value === false) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? '' : textOf(value));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

function isField(node: Element): node is HTMLInputElement | HTMLSelectElement {
  return node instanceof HTMLInputElement || node instanceof HTMLSelectElement;
}

/** One listener an event for the life of the element. It calls the function of the latest rendering. */
function listen(node: Element, on: Readonly<Record<string, (event: Event) => void>>): void {
  const known = listeners.get(node) ?? {};
  for (const [type, listener] of Object.entries(on)) {
    if (!known[type]) node.addEventListener(type, (event) => listeners.get(node)?.[type]?.(event));
    known[type] = listener;
  }
  listeners.set(node, known);
}
