import 'reflect-metadata';
import { Controller } from '@nestjs/common';
import { ClientProxyFactory, MessagePattern, Transport } from '@nestjs/microservices';
import type { MicroserviceOptions } from '@nestjs/microservices';
import type { AddressInfo, Server } from 'node:net';
import { createServer } from 'node:net';
import { firstValueFrom, lastValueFrom, Observable, of, toArray } from 'rxjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { currentLease, DistributedLock } from '../../lib/index.js';
import { startApp } from './app.js';

@Controller()
class StockHandler {
  @DistributedLock((sku: string) => `above/${sku}`)
  @MessagePattern('above')
  async above(sku: string) {
    return `${sku}: ${currentLease()?.key}`;
  }

  @MessagePattern('below')
  @DistributedLock((sku: string) => `below/${sku}`)
  async below(sku: string) {
    return `${sku}: ${currentLease()?.key}`;
  }

  @MessagePattern('stream')
  @DistributedLock('stream')
  stream(sku: string): Observable<string> {
    return of(`${sku}: ${currentLease()?.key}`, 'end');
  }
}

async function freePort(): Promise<number> {
  const server: Server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function connect() {
  const options = { host: '127.0.0.1', port: await freePort() };
  const started = await startApp({ controllers: [StockHandler] }, {}, (app) => {
    app.connectMicroservice<MicroserviceOptions>({ transport: Transport.TCP, options });
  });
  await started.app.startAllMicroservices();
  const client = ClientProxyFactory.create({ transport: Transport.TCP, options });
  onTestFinished(() => client.close());
  await client.connect();
  return { ...started, client };
}

describe('a lock on a message handler', () => {
  it('is acquired above and below @MessagePattern, over TCP', async () => {
    const { client, backend } = await connect();
    expect(await firstValueFrom(client.send('above', 'a'))).toBe('a: above/a');
    expect(await firstValueFrom(client.send('below', 'b'))).toBe('b: below/b');
    expect(backend.busyKeys).toEqual([]);
  });

  it('is held by a streaming handler until its last value is sent', async () => {
    const { client, backend } = await connect();
    expect(await lastValueFrom(client.send('stream', 'a').pipe(toArray()))).toEqual(['a: stream', 'end']);
    expect(backend.busyKeys).toEqual([]);
  });
});
