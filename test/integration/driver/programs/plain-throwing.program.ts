import driver from 'node-zookeeper-client';
import { ordersOf, say } from './orders.js';

// A callback of the plain driver throws when the next reply has already arrived.
interface PlainReader {
  once(event: 'connected', listener: () => void): void;
  connect(): void;
  getData(path: string, done: () => void): void;
}

const { connectString } = ordersOf<{ connectString: string }>();
const client = driver.createClient(connectString, { sessionTimeout: 4_000 }) as unknown as PlainReader;
client.once('connected', () => {
  client.getData('/', () => {
    throw new Error('thrown by a callback');
  });
  client.getData('/', () => say('the next one is called'));
});
client.connect();
