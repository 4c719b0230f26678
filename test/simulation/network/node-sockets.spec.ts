import net from 'node:net';
import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { listenTo, SomeNetwork } from './some-network.js';

/** The socket interface that the simulation and Node have in common. */
type Socket = Duplex & { resetAndDestroy(): unknown; destroySoon(): void };

/** The actions of each side on its socket. */
interface Play {
  readonly client: (socket: Socket) => void;
  readonly server: (socket: Socket) => void;
  /** Nobody listens on the port. */
  readonly isRefused?: boolean;
}

interface Told {
  readonly client: readonly string[];
  readonly server: readonly string[];
}

async function playForReal({ client, server, isRefused = false }: Play): Promise<Told> {
  const told = { client: [] as string[], server: [] as string[] };
  const closed: Promise<unknown>[] = [];
  const take = (socket: net.Socket, events: string[]) => {
    listenTo(socket as never, events);
    closed.push(new Promise((resolve) => socket.once('close', resolve)));
  };
  const listener = net.createServer((socket) => {
    take(socket, told.server);
    server(socket);
  });
  await once(listener.listen(0, '127.0.0.1'), 'listening');
  const { port } = listener.address() as net.AddressInfo;
  if (isRefused) await new Promise((resolve) => listener.close(resolve));
  const accepted = isRefused ? undefined : once(listener, 'connection');
  const socket = net.connect({ port, host: '127.0.0.1' });
  take(socket, told.client);
  client(socket);
  await accepted;
  await Promise.all(closed);
  listener.close();
  return told;
}

async function playSimulated({ client, server, isRefused = false }: Play, seed: number): Promise<Told> {
  const some = new SomeNetwork(seed);
  if (!isRefused) some.listen(server);
  await some.atClientDo(() => client(some.connect()), 1_000);
  expect(some.network.connections()).toEqual([]);
  return { client: some.atClient, server: some.atServer };
}

const nothing = () => {};

const PLAYS: Readonly<Record<string, Play>> = {
  'the client ends': { client: (socket) => void socket.end(), server: nothing },
  'the client writes before it is connected, and ends': { client: (socket) => void socket.end('a'), server: nothing },
  'the server ends': { client: nothing, server: (socket) => void socket.end('good-bye') },
  'the server ends when it has heard something': {
    client: (socket) => void socket.write('a'),
    server: (socket) => void socket.once('data', () => socket.end('b')),
  },
  'question and answer': {
    client: (socket) => {
      socket.write('question');
      socket.once('data', () => socket.end());
    },
    server: (socket) => void socket.once('data', () => socket.write('answer')),
  },
  'the client destroys its socket when it is connected': {
    client: (socket) => void socket.once('connect', () => socket.destroy()),
    server: nothing,
  },
  'the client destroys its socket with an error': {
    client: (socket) =>
      void socket.once('connect', () => socket.destroy(Object.assign(new Error('own'), { code: 'OWN' }))),
    server: nothing,
  },
  'the server destroys its socket': { client: nothing, server: (socket) => void socket.destroy() },
  'the server destroys its socket soon': {
    client: nothing,
    server: (socket) => {
      socket.write('last');
      socket.destroySoon();
    },
  },
  'the client resets': {
    client: (socket) => void socket.once('connect', () => socket.resetAndDestroy()),
    server: nothing,
  },
  'the server resets when it has heard something': {
    client: (socket) => void socket.write('a'),
    server: (socket) => void socket.once('data', () => socket.resetAndDestroy()),
  },
  'nobody listens': { client: nothing, server: nothing, isRefused: true },
};

/** One text may arrive in several pieces. */
const joined = (events: readonly string[]) => events.join(' ').replaceAll(/(data \w*) data (?=\w)/g, '$1');
const both = ({ client, server }: Told) => ({ client: joined(client), server: joined(server) });

describe('simulated sockets have the same events as those of Node', () => {
  it.each(Object.entries(PLAYS))('%s', async (_name, play) => {
    const real = both(await playForReal(play));
    for (const seed of [1, 2, 3, 4]) expect(both(await playSimulated(play, seed))).toEqual(real);
  });
});
