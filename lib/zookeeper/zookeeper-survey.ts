/**
 * The survey of a tree of znodes: what is held and waited for below the base path, found by lists alone.
 *
 * A directory shows by the names of its children which wait queue it is. Directories are listed breadth first, the
 * contenders of a key are read in the same step as its list, and no request sets a watch.
 */
import { deferred } from '../async/deferred.js';
import { limited } from '../async/timer.js';
import type { Survey, SurveyedKey, SurveyedQueue, SurveyQuestion } from '../contract/survey.js';
import { itemsIn } from './coordination/queue-place.js';
import { firstCandidates } from './election/candidates.js';
import { childrenOf, firstContenders } from './recipes/contender-listing.js';
import { contenderNameOf, contenderNamesIn, itemNumber, SEMAPHORE_PARTS } from './recipes/contender-znode.js';
import { firstOfSemaphore, permitNumber } from './recipes/permit-view.js';
import { directoryOfPrefix, keySegment, placeAt } from './recipes/znode-path.js';
import { isKeeperError } from './session/requests.js';
import type { Session } from './session/session.js';

type Asked = Pick<Session, 'id' | 'requests' | 'persistently'>;

/** The tree of a backend. */
export interface SurveyedTree {
  readonly chroot: string;
  readonly basePath: string;
}

const DEEPEST = 16;
const MOST_IN_FLIGHT = 16;
/** Znodes beside the wait queue of an election, or beside the items of a queue at a path of its own. */
const BESIDE = /(?:%candidates|-claims|-takers|-putters)$/;

/** @throws `question.signal.reason`, KeeperError, SessionEndedError */
export async function surveyOf(session: Asked, tree: SurveyedTree, question: SurveyQuestion): Promise<Survey> {
  const walk = new Walk(tree, question);
  const isComplete = await limited(question.withinMs, question.signal, async (signal) => {
    await walk.through(atMost(MOST_IN_FLIGHT, session, signal), signal);
    return true;
  });
  return walk.result(isComplete === true);
}

/** A directory to list. */
interface Directory {
  readonly path: string;
  readonly key: string;
  readonly depth: number;
}

class Walk {
  readonly #tree: SurveyedTree;
  readonly #question: SurveyQuestion;
  readonly #prefix: string;
  readonly #keys: SurveyedKey[] = [];
  readonly #queues: SurveyedQueue[] = [];
  readonly #steps: (() => Promise<void>)[] = [];
  readonly #done = deferred();
  #next = 0;
  #running = 0;
  #reserved = 0;
  #isCut = false;

  constructor(tree: SurveyedTree, question: SurveyQuestion) {
    this.#tree = tree;
    this.#question = question;
    const { prefix = '' } = question;
    // Keys below the base path are shown as they are below it, also where the path was given.
    const below = `${tree.basePath}/`;
    const isBelow = prefix.startsWith(below) || `${prefix}/` === below;
    this.#prefix = isBelow ? prefix.slice(below.length) : prefix;
  }

  async through(session: Asked, signal: AbortSignal): Promise<void> {
    this.#begin(session, signal);
    this.#pump();
    await this.#done.promise;
  }

  result(isComplete: boolean): Survey {
    return { keys: [...this.#keys], queues: [...this.#queues], isTruncated: this.#isCut || !isComplete };
  }

  #begin(session: Asked, signal: AbortSignal): void {
    const { chroot, basePath } = this.#tree;
    const root = directoryOfPrefix(this.#prefix, basePath);
    if (root === undefined) return;
    const key = this.#prefix.slice(0, Math.max(0, this.#prefix.lastIndexOf('/')));
    this.#visit(session, signal, { path: chroot + root, key, depth: 0 });
    if (key === '' || this.#prefix.startsWith('/')) return;
    // These are listed by the visit of the base path otherwise.
    this.#places(session, signal);
  }

  /** Adds a directory to those that are listed. */
  #visit(session: Asked, signal: AbortSignal, directory: Directory): void {
    this.#add(() => this.#look(session, signal, directory));
  }

  async #look(session: Asked, signal: AbortSignal, directory: Directory): Promise<void> {
    const { path, key, depth } = directory;
    const names = await listed(session, path === '' ? '/' : path, signal, depth > 0);
    if (names === undefined) return this.#cut();
    if (path === this.#path('') && key === '') this.#places(session, signal);
    if (this.#isMeant(key)) await this.#readAt(session, signal, directory, names);
    this.#descend(session, signal, directory, names);
  }

  async #readAt(session: Asked, signal: AbortSignal, { path, key }: Directory, names: readonly string[]) {
    const most = this.#question.mostContenders;
    const found: Promise<void>[] = [];
    if (contenderNamesIn('locks', names).length > 0)
      found.push(this.#key(key, 'lock', () => firstContenders(session, { path, names }, most, signal)));
    if (contenderNamesIn('candidates', names).length > 0)
      found.push(this.#key(key, 'election', () => firstCandidates(session, { path, names }, most, signal)));
    const items = itemsIn(names).length;
    if (items > 0) this.#queue(key, items);
    await Promise.all(found);
  }

  #descend(session: Asked, signal: AbortSignal, { path, key, depth }: Directory, names: readonly string[]): void {
    const all = new Set(names);
    const isSemaphore = key !== '' && (all.has(SEMAPHORE_PARTS.gate) || all.has(SEMAPHORE_PARTS.permits));
    if (isSemaphore && this.#isMeant(key)) {
      const look = () => firstOfSemaphore(session, path, this.#question.mostContenders, signal);
      this.#add(() => this.#key(key, 'semaphore', look));
    }
    const parts: readonly string[] = key === '' ? [] : Object.values(SEMAPHORE_PARTS);
    for (const name of names) {
      const at = `${path}/${name}`;
      if (isPlace(name) || parts.includes(name) || isEntry(name) || isBeside(name, all)) continue;
      if (at === this.#path('') || at === '/zookeeper') continue;
      const below = key === '' && !this.#isAbsolute ? keySegment(name) : `${key}/${this.#segment(name)}`;
      if (!this.#leadsOn(below)) continue;
      if (depth >= DEEPEST) this.#cut();
      else this.#visit(session, signal, { path: at, key: below, depth: depth + 1 });
    }
  }

  /** Lists what lies beside the locks. */
  #places(session: Asked, signal: AbortSignal): void {
    const list = (path: string) => listed(session, path, signal, true).then((names) => names ?? []);
    const each = (place: 'elections' | 'queues' | 'segments', look: (path: string, key: string) => void) => {
      const at = this.#tree.chroot + placeAt(place, this.#tree.basePath);
      this.#add(async () => {
        const names = await list(at);
        const all = new Set(names);
        for (const name of names.filter((one) => !isBeside(one, all))) {
          const key = keySegment(name);
          if (this.#leadsOn(key)) look(`${at}/${name}`, key);
        }
      });
    };
    each('elections', (path, key) => this.#visit(session, signal, { path, key, depth: DEEPEST }));
    each('queues', (path, key) => {
      if (!this.#isMeant(key)) return;
      this.#add(async () => {
        const items = itemsIn(await list(`${path}/items`)).length;
        if (items > 0) this.#queue(key, items);
      });
    });
    each('segments', (path, key) => {
      this.#add(async () => {
        for (const number of await list(path)) {
          const directory = { path: `${path}/${number}`, key: `${key}/#${number}`, depth: DEEPEST };
          if (this.#isMeant(directory.key)) this.#visit(session, signal, directory);
        }
      });
    });
  }

  /** Adds a key, unless there are enough of them, or all its contenders are gone by now. */
  async #key(
    key: string,
    kind: SurveyedKey['kind'],
    read: () => Promise<Omit<SurveyedKey, 'key' | 'kind'> | undefined>,
  ): Promise<void> {
    if (!this.#reserve()) return;
    const found = await read();
    if (found) this.#keys.push({ key, kind, ...found });
    else this.#reserved--;
  }

  #queue(key: string, items: number): void {
    if (this.#reserve()) this.#queues.push({ key, items });
  }

  #reserve(): boolean {
    const isFree = !this.#isFull;
    if (isFree) this.#reserved++;
    else this.#cut();
    return isFree;
  }

  get #isFull(): boolean {
    return this.#reserved >= this.#question.mostKeys;
  }

  #cut(): void {
    this.#isCut = true;
  }

  get #isAbsolute(): boolean {
    return this.#prefix.startsWith('/');
  }

  /** Absolute keys are paths as they are. */
  #segment(name: string): string {
    return this.#isAbsolute ? name : keySegment(name);
  }

  #path(key: string): string {
    return this.#tree.chroot + this.#tree.basePath + key;
  }

  #isMeant(key: string): boolean {
    return key !== '' && key.startsWith(this.#prefix);
  }

  /** Whether keys at or below this one may be meant. */
  #leadsOn(key: string): boolean {
    return key.startsWith(this.#prefix) || this.#prefix.startsWith(`${key}/`);
  }

  #add(step: () => Promise<void>): void {
    this.#steps.push(step);
    this.#pump();
  }

  /** Takes the next steps, in the order in which they were added. */
  #pump(): void {
    while (this.#running < MOST_IN_FLIGHT && this.#next < this.#steps.length) {
      const step = this.#steps[this.#next++];
      if (this.#isFull) this.#cut();
      else if (step) this.#take(step);
    }
    if (this.#running === 0) this.#done.resolve();
  }

  #take(step: () => Promise<void>): void {
    this.#running++;
    step().then(
      () => {
        this.#running--;
        this.#pump();
      },
      (error: unknown) => {
        this.#steps.length = 0;
        this.#done.reject(error);
      },
    );
  }
}

/** The names of the children. `undefined` where this session may not list them, and is not to fail for that. */
async function listed(session: Asked, path: string, signal: AbortSignal, mayBeRefused: boolean) {
  return childrenOf(session, path, signal).catch((error: unknown) => {
    if (mayBeRefused && isKeeperError(error, 'noAuth')) return undefined;
    throw error;
  });
}

/** Whether it is the name of a contender, a permit or an item. They have no children. */
function isEntry(name: string): boolean {
  return contenderNameOf(name) !== undefined || itemNumber(name) !== undefined || permitNumber(name) !== undefined;
}

function isPlace(name: string): boolean {
  return name.startsWith('%') && !/^%[0-9A-F]{2}/.test(name);
}

/** Whether a znode belongs to the election or the queue beside it. */
function isBeside(name: string, all: ReadonlySet<string>): boolean {
  const [ending] = BESIDE.exec(name) ?? [];
  return ending !== undefined && (ending === '%candidates' || all.has(name.slice(0, -ending.length)));
}

/** The session, with a limit for the number of its requests under way. */
function atMost(most: number, session: Asked, signal: AbortSignal): Asked {
  const waiting: (() => void)[] = [];
  let running = 0;
  const next = () => {
    const first = waiting.shift();
    if (first) first();
    else running--;
  };
  const persistently = async <T>(request: () => Promise<T>, limit: AbortSignal = signal): Promise<T> => {
    if (running < most) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return session.persistently(request, limit).finally(next);
  };
  return { id: session.id, requests: session.requests, persistently };
}
