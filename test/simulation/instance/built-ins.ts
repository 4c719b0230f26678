import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import crypto from 'node:crypto';
import os from 'node:os';
import type { Random } from '../../robustness/random.js';
import type { Network } from '../network/network.js';
import { sharedAsyncHooks } from './async-context.js';
import type { SimSocket } from '../network/sim-socket.js';
import type { SimProcess } from '../world/sim-process.js';
import type { World } from '../world/world.js';

const requireReal = createRequire(import.meta.url);

/** The environment in which a simulated process runs. */
export interface Site {
  readonly world: World;
  readonly network: Network;
  readonly process: SimProcess;
  /** The name of the process's machine. */
  readonly host: string;
  readonly pid: number;
  /** Returns a port for a server that listens on any port. */
  readonly nextPort: () => number;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Receives warnings and printed text. */
  readonly say: (text: string) => void;
}

/** The globals that the code of a simulated process uses instead of Node's, by name. */
export function globalsOf(site: Site): Readonly<Record<string, unknown>> {
  const { process } = site;
  const performance = performanceOf(process);
  const own = {
    performance,
    ...timersOf(process),
    Date: dateOf(process),
    Math: {
      ...Object.fromEntries(Object.getOwnPropertyNames(Math).map((name) => [name, Reflect.get(Math, name)])),
      random: () => process.random.next(),
    },
    process: processOf(site),
    console: consoleOf(site),
  };
  // The globals are defined, not assigned: some of the real ones are accessors, and an assignment would change the real
  // global.
  return { ...own, globalThis: Object.create(globalThis, Object.getOwnPropertyDescriptors(own)) as object };
}

/**
 * The `require` of a simulated process. Packages and built-ins that depend neither on time nor on random numbers are
 * the real ones.
 */
export function requireOf(site: Site): (name: string) => unknown {
  const timers = timersOf(site.process);
  const replaced = new Map<string, unknown>([
    ['net', netOf(site)],
    ['crypto', { ...crypto, ...chanceOf(site.process.random) }],
    ['os', { ...os, hostname: () => site.host }],
    ['async_hooks', sharedAsyncHooks],
    ['perf_hooks', { performance: performanceOf(site.process) }],
    ['timers', timers],
    ['timers/promises', { setTimeout: pauseBy(timers.setTimeout, timers.clearTimeout) }],
  ]);
  return (name) => {
    const plain = name.replace(/^node:/, '');
    return replaced.get(plain) ?? requireReal(name);
  };
}

function timersOf(process: SimProcess) {
  const { timers } = process;
  const bound = (callback: (...args: unknown[]) => void, args: unknown[]) =>
    args.length === 0 ? callback : () => callback(...args);
  return {
    setTimeout: (callback: () => void, ms?: number, ...args: unknown[]) => timers.set(bound(callback, args), ms, false),
    setInterval: (callback: () => void, ms?: number, ...args: unknown[]) => timers.set(bound(callback, args), ms, true),
    clearTimeout: clear,
    clearInterval: clear,
    setImmediate: (callback: () => void, ...args: unknown[]) => process.setImmediate(bound(callback, args)),
    clearImmediate: (immediate: () => void) => process.clearImmediate(immediate),
  };
  function clear(timer: Parameters<typeof timers.clear>[0] | undefined) {
    if (timer) timers.clear(timer);
  }
}

type SetTimer = ReturnType<typeof timersOf>['setTimeout'];
type ClearTimer = ReturnType<typeof timersOf>['clearTimeout'];

/** Like `setTimeout` of `node:timers/promises`. */
function pauseBy(setTimer: SetTimer, clearTimer: ClearTimer) {
  return (ms?: number, value?: unknown, { signal }: { signal?: AbortSignal } = {}) =>
    new Promise((resolve, reject) => {
      const aborted = () => {
        clearTimer(timer);
        reject(new DOMException('The operation was aborted', 'AbortError'));
      };
      const timer = setTimer(() => {
        signal?.removeEventListener('abort', aborted);
        resolve(value);
      }, ms);
      if (signal?.aborted) aborted();
      else signal?.addEventListener('abort', aborted, { once: true });
    });
}

function performanceOf(process: SimProcess) {
  return { now: () => process.nowMs, timeOrigin: 0, mark() {}, measure() {} };
}

function dateOf(process: SimProcess): DateConstructor {
  return class extends Date {
    constructor(...args: []) {
      super(...(args.length === 0 ? ([process.wallMs] as unknown as []) : args));
    }

    static override now(): number {
      return process.wallMs;
    }
  } as unknown as DateConstructor;
}

function chanceOf(random: Random) {
  const randomBytes = (size: number) => Buffer.from(Array.from({ length: size }, () => random.int(0, 255)));
  return {
    randomBytes,
    randomInt: (from: number, to?: number) => (to === undefined ? random.int(0, from - 1) : random.int(from, to - 1)),
    randomUUID: () => {
      const hex = randomBytes(16).toString('hex');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
  };
}

function processOf({ world, pid, env, say }: Site): object {
  const hrtime = { bigint: () => BigInt(world.now) * 1_000n };
  const { versions, version, platform, arch, nextTick } = process;
  return Object.assign(new EventEmitter(), {
    pid,
    // True time, the same for all processes: histories are recorded with it. The library reads other clocks.
    hrtime,
    env: { ...env },
    argv: [],
    versions,
    version,
    platform,
    arch,
    nextTick: nextTick.bind(process),
    emitWarning: (warning: unknown) => say(`warning: ${warning instanceof Error ? warning.stack : String(warning)}`),
    // Pretends that SIGTERM has a listener, so the library does not warn about it.
    listenerCount: () => 1,
    cwd: () => '/',
    exit: (code: unknown) => {
      throw new Error(`process.exit(${String(code)}) in a simulated process`);
    },
  });
}

function consoleOf({ say }: Site): object {
  const print = (...args: unknown[]) => say(args.map(String).join(' '));
  return { log: print, info: print, warn: print, error: print, debug: print };
}

function netOf(site: Site) {
  const { network, process, host } = site;
  const connect = (to: { port: number }) => network.connect(process, host, to.port);
  return {
    connect,
    createConnection: connect,
    isIP: (text: string) => (/^\d+\.\d+\.\d+\.\d+$/.test(text) ? 4 : 0),
    createServer: (_options: object, accept: (socket: SimSocket) => void) => new Server(site, accept),
  };
}

/** The subset of `net.Server` that the embedded ZooKeeper uses. */
class Server extends EventEmitter {
  readonly #site: Site;
  readonly #accept: (socket: SimSocket) => void;
  #open = 0;
  #port = 0;
  #isClosed = false;

  constructor(site: Site, accept: (socket: SimSocket) => void) {
    super();
    this.#site = site;
    this.#accept = accept;
  }

  listen(port: number, _host: string, listening: () => void): this {
    const { network, process, nextPort } = this.#site;
    this.#port = port === 0 ? nextPort() : port;
    network.listen(this.#port, { process, accept: (socket) => this.#accepted(socket) });
    process.deliver(listening);
    return this;
  }

  address(): { port: number } {
    return { port: this.#port };
  }

  /** Accepts no more connections, and calls back when the existing ones have ended. */
  close(closed: () => void): this {
    this.#site.network.close(this.#port);
    this.#isClosed = true;
    this.once('close', closed);
    this.#ended();
    return this;
  }

  #accepted(socket: SimSocket): void {
    this.#open++;
    socket.once('close', () => {
      this.#open--;
      this.#ended();
    });
    this.#accept(socket);
  }

  #ended(): void {
    if (this.#isClosed && this.#open === 0) this.#site.process.deliver(() => this.emit('close'));
  }
}
