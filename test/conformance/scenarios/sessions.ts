import { setTimeout as pause } from 'node:timers/promises';
import { multi } from '../wire/multi-requests.js';
import { create, create2, exists, getChildren, getData, getEphemerals } from '../wire/node-requests.js';
import { closeSession, ping } from '../wire/session-requests.js';
import type { RawClient } from '../stage/raw-client.js';
import type { Stage } from '../stage/stage.js';
import { TICK_MS } from '../servers/tested-server.js';
import type { Group } from './group.js';

/** A timeout that passes in real time. The server counts it by its own clock, and announces nothing before its end. */
const SHORT_MS = 2 * TICK_MS;
/** A margin for a machine that is busy with other work. */
const SLACK_MS = 5_000;

export const sessions: Group = {
  name: 'sessions',
  scenarios: {
    'a silent client loses the session, its nodes and its connection': async (stage) => {
      const [a, b] = [await stage.open('a', { timeoutMs: SHORT_MS }), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      await b.ask(getData('/e', true));
      await expire(stage, a, b);
      await a.closed();
      await b.ask(exists('/e'));
      await a.resume();
      await a.closed();
    },
    'a client without a connection loses it as well': async (stage) => {
      const [a, b] = [await stage.open('a', { timeoutMs: SHORT_MS }), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      await b.ask(exists('/e', true));
      await a.drop();
      await expire(stage, a, b);
      await a.resume();
      await a.closed();
    },
    'all its nodes go under one transaction': async (stage) => {
      const [a, b] = [await stage.open('a', { timeoutMs: SHORT_MS }), await stage.open('b')];
      await a.ask(create('/p'));
      await a.ask(multi([create('/p/one', { flags: 1 }), create('/p/two', { flags: 1 }), create('/p/stays')]));
      await a.ask(create('/three', { flags: 3 }));
      await b.ask(getChildren('/', true));
      await expire(stage, a, b);
      await stage.sayTree();
      await b.ask(create2('/next'));
    },
    'a ping is enough to keep it': async (stage) => {
      const [a, b] = [await stage.open('a', { timeoutMs: SHORT_MS }), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      for (let pinged = 0; pinged < 12; pinged++) {
        await a.catchUp();
        await pause(SHORT_MS / 5);
      }
      await b.ask(exists('/e'));
      await a.ask(ping);
    },
    'reads are as good as pings': async (stage) => {
      const a = await stage.open('a', { timeoutMs: SHORT_MS });
      a.isSilent = true;
      for (let read = 0; read < 12; read++) {
        await a.ask(exists('/'));
        await pause(SHORT_MS / 5);
      }
      await a.ask(create('/x'));
    },
    'a renewed session starts its time again, with what was agreed last': async (stage) => {
      const [a, b] = [await stage.open('a', { timeoutMs: SHORT_MS }), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      await a.drop();
      await a.resume(a, { timeoutMs: 4 * SHORT_MS });
      await a.drop();
      await b.ask(exists('/e', true));
      await pause(2 * SHORT_MS + TICK_MS);
      await b.ask(exists('/e'));
      await a.resume();
      await a.ask(exists('/e'));
    },
    'its nodes stay while it comes back': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      await b.ask(exists('/e', true));
      await a.drop('reset');
      await b.ask(exists('/e'));
      await a.resume();
      await a.ask(getEphemerals('/'));
      await a.close();
    },
    'a goodbye ends it at once': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      await b.ask(exists('/e', true));
      await a.close();
      await b.ask(exists('/e'));
    },
    'one session, ended by another connection of it': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/e', { flags: 1 }));
      await b.ask(exists('/e', true));
      a.isSilent = true;
      const c = await stage.client('c').resume(a);
      await a.closed();
      await c.close();
      await a.resume();
      await a.closed();
    },
    'nothing is done behind a goodbye': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/x'));
      a.isSilent = true;
      await a.ask(closeSession);
      await a.closed();
      await b.ask(getChildren('/'));
    },
    'a child of another session keeps a parent': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(create('/p'));
      await b.ask(create('/p/of-b', { flags: 1 }));
      await a.close();
      await b.ask(getChildren('/p'));
    },
  },
};

/** Lets a session expire by sending nothing. Records when `witness` was notified, in terms of the allowed time. */
async function expire(stage: Stage, silent: RawClient, witness: RawClient): Promise<void> {
  silent.isSilent = true;
  const since = performance.now();
  await witness.hear();
  const tookMs = performance.now() - since;
  witness.sayAll(await witness.catchUp(), true);
  const isEarly = tookMs < SHORT_MS - TICK_MS / 10;
  const isLate = tookMs > SHORT_MS + 2 * TICK_MS + SLACK_MS;
  stage.say(`the session ends ${isEarly ? 'too early' : isLate ? 'too late' : 'in time'}`);
}
