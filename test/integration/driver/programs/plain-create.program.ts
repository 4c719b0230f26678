import driver from 'node-zookeeper-client';
import { ordersOf, say } from './orders.js';

// Creates a znode with the plain driver and reports the outcome.
interface PlainCreator {
  once(event: 'connected', listener: () => void): void;
  connect(): void;
  create(path: string, data: Buffer, done: (error: { code: number } | null) => void): void;
}

const { connectString } = ordersOf<{ connectString: string }>();
const client = driver.createClient(connectString, { sessionTimeout: 4_000 }) as unknown as PlainCreator;
client.once('connected', () => {
  say('connected');
  client.create('/z', Buffer.alloc(0), (error) => say(error ? `error ${error.code}` : 'created'));
});
client.connect();
