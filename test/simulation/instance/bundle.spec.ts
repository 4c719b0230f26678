import { beforeEach, describe, expect, it } from 'vitest';
import { SomeNetwork } from '../network/some-network.js';
import { bundleAll } from '../search/zookeeper-backend.js';
import { Bundle } from './bundle.js';
import { instantiate, someSite } from './some-site.js';

const MS = 1_000;

let some: SomeNetwork;

beforeEach(() => {
  some = new SomeNetwork();
});

describe('the globals of a simulated process', () => {
  interface Clocks {
    now(): number;
    date(): number;
    newDate(): string;
    given(): string;
    hooks(): number;
    hrtime(): bigint;
  }
  const CLOCKS = `
    const { performance: hooks } = require('node:perf_hooks');
    exports.now = () => performance.now();
    exports.date = () => Date.now();
    exports.newDate = () => new Date().toISOString();
    exports.given = () => new Date(0).toISOString();
    exports.hooks = () => hooks.now();
    exports.hrtime = () => process.hrtime.bigint();`;

  it('use the clock of the process, and `hrtime` uses the time of the world', async () => {
    const clocks = await instantiate<Clocks>(someSite(some, 'one', 1, { rate: 1.02 }), CLOCKS);
    await some.pass(1_000);
    expect([clocks.now(), clocks.hooks(), clocks.date()]).toEqual([1_020, 1_020, 1_020]);
    expect(clocks.newDate()).toBe('1970-01-01T00:00:01.020Z');
    expect(clocks.given()).toBe('1970-01-01T00:00:00.000Z');
    expect(clocks.hrtime()).toBe(1_000_000_000n);
  });

  it('draw random numbers from the stream of the process only', async () => {
    const code = `
      const { randomUUID, randomBytes, randomInt } = require('node:crypto');
      exports.draw = () => [Math.random(), randomUUID(), randomBytes(8).toString('hex'), randomInt(5, 10), randomInt(3)];
      exports.max = Math.max(1, Math.PI, globalThis.Math.E);`;
    const draw = async (seed: number) => {
      const one = await instantiate<{ draw(): unknown[]; max: number }>(
        someSite(new SomeNetwork(), 'one', 1, { seed }),
        code,
      );
      expect(one.max).toBe(Math.PI);
      return [one.draw(), one.draw()];
    };
    const first = await draw(1);
    expect(await draw(1)).toEqual(first);
    expect(await draw(2)).not.toEqual(first);
    expect(first[0]).not.toEqual(first[1]);
    const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/;
    for (const [, one] of first) expect(one).toMatch(uuid);
  });

  it('use the timers of the process, however they are accessed', async () => {
    const code = `
      const timers = require('timers');
      const { setTimeout: pause } = require('node:timers/promises');
      exports.begin = (print) => {
        setTimeout((a, b) => print(a + b), 30, 'global', ' with arguments');
        globalThis.setTimeout(() => print('of globalThis'), 10);
        timers.setTimeout(() => print('of the module'), 20);
        pause(40, 'value').then((value) => print('pause: ' + value));
        pause(50, 0, { signal: AbortSignal.abort() }).catch((error) => print(error.name));
        const interval = setInterval(() => { print('interval'); clearInterval(interval); }, 45);
        clearTimeout(setTimeout(() => print('cleared'), 1));
        clearTimeout(undefined);
        setImmediate((text) => print(text), 'immediate');
        clearImmediate(setImmediate(() => print('cleared')));
      };`;
    const site = someSite(some, 'one', 1);
    const { begin } = await instantiate<{ begin(print: (text: string) => void): void }>(site, code);
    const printed: string[] = [];
    site.process.deliver(() => begin((text) => printed.push(`${Math.floor(some.world.now / MS)} ${text}`)));
    await some.pass(1_000);
    const texts = printed.map((line) => line.replace(/^\d+ /, ''));
    expect(texts).toEqual([
      'AbortError',
      'immediate',
      'of globalThis',
      'of the module',
      'global with arguments',
      'pause: value',
      'interval',
    ]);
    expect(Number.parseInt(printed.at(-1)!, 10)).toBeGreaterThanOrEqual(44);
  });

  it('reject a pause when its signal is aborted', async () => {
    const code = `
      const { setTimeout: pause } = require('node:timers/promises');
      exports.begin = (print) => {
        const controller = new AbortController();
        pause(1000, 0, { signal: controller.signal }).catch((error) => print(error.name + ' ' + performance.now()));
        setTimeout(() => controller.abort(), 10);
      };`;
    const site = someSite(some, 'one', 1);
    const { begin } = await instantiate<{ begin(print: (text: string) => void): void }>(site, code);
    const printed: string[] = [];
    site.process.deliver(() => begin((text) => printed.push(text)));
    await some.pass(2_000);
    expect(printed).toEqual([expect.stringMatching(/^AbortError (9|1\d)\b/)]);
  });

  it('describe the process', async () => {
    const code = `
      const { hostname, EOL } = require('os');
      Object.assign(exports, { hostname: hostname(), EOL, pid: process.pid, cwd: process.cwd(), env: process.env });
      exports.pidOfGlobal = globalThis.process.pid;
      exports.exit = () => process.exit(3);
      exports.warn = () => { process.emitWarning('a warning'); console.log('a', 1); };`;
    interface Who {
      exit(): void;
      warn(): void;
    }
    const said: string[] = [];
    const one = await instantiate<Who>(someSite(some, 'one', 17, { said }), code);
    expect(one).toMatchObject({ hostname: 'host-of-one', pid: 17, pidOfGlobal: 17, cwd: '/', env: {} });
    expect(() => one.exit()).toThrow('process.exit(3) in a simulated process');
    one.warn();
    expect(said).toEqual(['warning: a warning', 'a 1']);
  });

  it('have the sockets and servers of the network', async () => {
    const code = `
      const net = require('node:net');
      exports.serve = (print) => {
        const server = net.createServer({}, (socket) => {
          socket.on('data', (bytes) => socket.end('heard ' + bytes));
        });
        server.listen(0, '127.0.0.1', () => print('listens on ' + server.address().port));
        exports.close = () => server.close(() => print('has closed'));
      };
      exports.ask = (print) => {
        const socket = net.connect({ host: '127.0.0.1', port: 2181 });
        socket.write('a question');
        socket.on('data', (bytes) => print(String(bytes)));
        socket.on('error', (error) => print(error.code));
        socket.on('close', () => print('is over'));
        return [net.isIP('127.0.0.1'), net.isIP('localhost')];
      };`;
    interface Asking {
      serve(print: (text: string) => void): void;
      ask(print: (text: string) => void): number[];
      close(): void;
    }
    const printed: string[] = [];
    const sites = ['server', 'client'].map((name, pid) => someSite(some, name, pid));
    const server = await instantiate<Asking>(sites[0]!, code);
    const client = await instantiate<Asking>(sites[1]!, code);
    sites[0]!.process.deliver(() => server.serve((text) => printed.push(text)));
    await some.pass(1);
    sites[1]!.process.deliver(() => expect(client.ask((text) => printed.push(text))).toEqual([4, 0]));
    await some.pass(100);
    expect(printed.splice(0).join()).toMatch(/^listens on 2181,heard a.*is over$/);
    sites[0]!.process.deliver(() => server.close());
    sites[1]!.process.deliver(() => void client.ask((text) => printed.push(text)));
    await some.pass(100);
    expect(printed).toEqual(['has closed', 'ECONNREFUSED', 'is over']);
  });
});

describe('two instances of a bundle', () => {
  const COUNTER = `
    let count = 0;
    class Thing {}
    exports.Thing = Thing;
    exports.count = () => ++count;
    exports.shared = require('rxjs').Observable;`;
  interface Counter {
    readonly Thing: object;
    readonly shared: object;
    count(): number;
  }

  it('share only packages that depend neither on time nor on random numbers', async () => {
    const bundle = new Bundle<Counter>(COUNTER, 'counter');
    const [one, other] = [1, 2].map((pid) => bundle.instantiate(someSite(some, `p${pid}`, pid))) as [Counter, Counter];
    expect([one.count(), one.count(), other.count()]).toEqual([1, 2, 1]);
    expect(one.Thing).not.toBe(other.Thing);
    expect(one.shared).toBe(other.shared);
  });

  it('leave the real globals as they were', async () => {
    const names = [...Object.getOwnPropertyNames(globalThis), 'performance', 'process'];
    const descriptors = () => names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name)?.value as unknown);
    const values = () => [performance, process, setTimeout, setImmediate, Date, Math, console, Math.random, Date.now];
    const before = [descriptors(), values()];
    const code = `
      globalThis.left = 'behind';
      exports.isOwn = performance === globalThis.performance && process === globalThis.process;
      exports.inherits = globalThis.Buffer === Buffer && globalThis.AbortController === AbortController;`;
    const one = await instantiate<object>(someSite(some, 'one', 1), code);
    const other = await instantiate<object>(someSite(some, 'other', 2), code);
    for (const made of [one, other]) expect(made).toEqual({ isOwn: true, inherits: true });
    const after = [descriptors(), values()];
    before.flat().forEach((value, at) => expect(after.flat()[at]).toBe(value));
    expect('left' in globalThis).toBe(false);
    expect(performance.now()).toBeGreaterThan(0);
    expect(process.pid).toBeGreaterThan(2);
  });
});

describe('a planted edit', () => {
  const CLOCK = 'zookeeper/session/lease-clock.js';

  it('changes the bundle, and no file', async () => {
    const edit = { file: CLOCK, replace: 'if (isQuorum)', by: 'if (!isQuorum)' };
    const [sound, broken, again] = [await bundleAll(), await bundleAll([edit]), await bundleAll()];
    expect(again).toEqual(sound);
    expect(sound.client).not.toContain(edit.by);
    expect(broken.client).toBe(sound.client.replace(edit.replace, edit.by));
    expect(broken.servers).toBe(sound.servers);
  });

  it('must match a place in its file', async () => {
    const edit = { file: CLOCK, replace: 'if (isNowhere)', by: '' };
    await expect(bundleAll([edit])).rejects.toThrow(`lib/${CLOCK} does not contain: if (isNowhere)`);
  });

  it('must be in a file that is bundled', async () => {
    const edit = { file: 'none.js', replace: 'a', by: 'b' };
    await expect(bundleAll([edit])).rejects.toThrow('lib/none.js is in no bundle: nothing was planted in it');
  });
});
