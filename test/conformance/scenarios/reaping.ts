import { CONTAINER_CHECK_MS } from '../servers/tested-server.js';
import type { RawClient } from '../stage/raw-client.js';
import { multi } from '../wire/multi-requests.js';
import { create, createContainer, createTtl, exists, getData, remove, setData } from '../wire/node-requests.js';
import type { Group } from './group.js';

const GONE = /noNode/;

/** In one transaction: a server that checks between the two would delete the node before it has a child. */
const ttlWithChild = multi([createTtl('/t', 100), create('/t/x')]);

/** Nodes that the server deletes by itself. */
export const reaping: Group = {
  name: 'reaping',
  scenarios: {
    'a container goes when its last child has gone': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(createContainer('/c'));
      await a.ask(create('/c/x'));
      await b.ask(exists('/c', true));
      await a.ask(remove('/c/x'));
      await b.hear();
      await a.ask(exists('/c'));
    },
    'a container that never had one stays, and so does one that has one': async (stage) => {
      const a = await stage.open('a');
      await a.ask(createContainer('/empty'));
      await a.ask(createContainer('/full'));
      await a.ask(create('/full/x'));
      await a.ask(create('/plain'));
      await a.ask(create('/plain/x'));
      await a.ask(remove('/plain/x'));
      await passes(a);
      for (const path of ['/empty', '/full', '/plain']) await a.ask(exists(path));
    },
    'containers in containers go from below': async (stage) => {
      const a = await stage.open('a');
      await a.ask(createContainer('/c'));
      await a.ask(createContainer('/c/d'));
      await a.ask(create('/c/d/x', { flags: 1 }));
      await a.ask(remove('/c/d/x'));
      await a.askUntil(exists('/c'), GONE);
      await a.ask(exists('/c/d'));
    },
    'a node with a time to live goes when nobody has written it for so long': async (stage) => {
      const [a, b] = [await stage.open('a'), await stage.open('b')];
      await a.ask(ttlWithChild);
      await a.ask(createTtl('/long', 60_000));
      await b.ask(getData('/t', true));
      await a.ask(remove('/t/x'));
      await b.hear();
      await a.ask(exists('/t'));
      await a.ask(exists('/long'));
    },
    'children keep it': async (stage) => {
      const a = await stage.open('a');
      await a.ask(ttlWithChild);
      await passes(a);
      await a.ask(exists('/t'));
      await a.ask(setData('/t', 'x'));
      await a.ask(remove('/t/x'));
      await a.askUntil(exists('/t'), GONE);
    },
    'the number is not lost with the container': async (stage) => {
      const a = await stage.open('a');
      await a.ask(createContainer('/c'));
      await a.ask(create('/c/s', { flags: 3 }));
      await a.ask(remove('/c/s0000000000'));
      await a.askUntil(exists('/c'), GONE);
      await a.ask(create('/c/s', { flags: 3 }));
      await a.ask(createContainer('/c'));
      await a.ask(create('/c/s', { flags: 3 }));
    },
  },
};

/** Waits until the server must have checked its containers. Containers that it has to delete show that. */
async function passes(client: RawClient): Promise<void> {
  for (const path of ['/probe-one', '/probe-two']) {
    await client.ask(createContainer(path));
    await client.ask(create(`${path}/x`));
    await client.ask(remove(`${path}/x`));
    await client.askUntil(exists(path), GONE);
  }
  await new Promise((resolve) => setTimeout(resolve, CONTAINER_CHECK_MS));
}
