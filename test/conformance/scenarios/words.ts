import type { Stage } from '../stage/stage.js';
import { create, getChildren, getData } from '../wire/node-requests.js';
import { addWatch } from '../wire/watch-requests.js';
import type { Group } from './group.js';

/** The figures of `mntr` that are equal wherever the same operations were done. */
const COUNTED = ['server_state', 'num_alive_connections', 'znode_count', 'watch_count', 'ephemerals_count'];

/** The admin words. Their output about clients is compared, their output about Java is not. */
export const words: Group = {
  name: 'words',
  scenarios: {
    'is it well': async (stage) => {
      for (const word of ['ruok', 'isro']) stage.say(`${word}: ${await stage.ask(word)}`);
    },
    'a text that is no word is a length that cannot be': async (stage) => {
      for (const word of ['what', 'RUOK', 'ruo?']) stage.say(`${word}: ${JSON.stringify(await stage.ask(word))}`);
    },
    'a word may have more behind it': async (stage) => {
      stage.say(`ruok and a newline: ${await stage.ask('ruok\n')}`);
    },
    'the connections and the figures': async (stage) => {
      await population(stage);
      for (const word of ['srvr', 'stat']) stage.say(`${word}:\n${shape(await stage.ask(word))}`);
    },
    'figures to be read by a machine': async (stage) => {
      await population(stage);
      const lines = (await stage.ask('mntr')).split('\n').map((line) => line.split('\t'));
      for (const name of COUNTED) stage.say(lines.find(([key]) => key === `zk_${name}`)?.join(' ') ?? `no ${name}`);
    },
    'the ephemeral nodes of each session': async (stage) => {
      await population(stage);
      const dump = named(stage, await stage.ask('dump'));
      stage.say(shape(/ephemeral nodes dump:[^]*?(?=Connections dump|$)/.exec(dump)?.[0] ?? dump));
    },
    'the watches of each session and path': async (stage) => {
      await population(stage);
      for (const word of ['wchs', 'wchp', 'wchc']) {
        stage.say(`${word}:\n${inOrder(named(stage, await stage.ask(word)))}`);
      }
    },
  },
};

async function population(stage: Stage): Promise<void> {
  const [a, b] = [await stage.open('a'), await stage.open('b')];
  await a.ask(create('/e', { flags: 1 }));
  await b.ask(getData('/e', true));
  await b.ask(getChildren('/zookeeper', true));
  await b.ask(addWatch('/p', 0));
}

/** Replaces sessions by their client's name. The lines of clients come in any order. */
function named(stage: Stage, text: string): string {
  return stage.clients.reduce(
    (all, { name, sessionId }) => all.replaceAll(`0x${sessionId.toString(16)}`, `<session of ${name}>`),
    text,
  );
}

/** Sorts the lines, each together with the indented lines below it. */
function inOrder(text: string): string {
  const blocks = text.trimEnd().split(/\n(?!\t)/);
  return blocks
    .map((block) => block.split('\n\t').sort().join('\n\t'))
    .sort()
    .join('\n');
}

/** The words of a text without its variable parts. */
function shape(text: string): string {
  return text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/expire at|^ \//.test(line))
    .map((line) =>
      line
        .replace(/^Zookeeper version: .*/, 'Zookeeper version: …')
        .replace(/0x[0-9a-f]+/g, '0x…')
        .replace(/\d+(\.\d+)?/g, '…')
        .replace(/\b(\w{3} )?\w{3} … …:…:… \w+ …/g, '<time>'),
    )
    .sort()
    .join('\n');
}
