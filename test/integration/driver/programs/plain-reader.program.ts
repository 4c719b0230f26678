import driver from 'node-zookeeper-client';
import { ordersOf, say } from './orders.js';

// Reads a znode with the plain driver on request, and reports the events of its connection.
interface PlainReader {
  on(event: 'connected' | 'disconnected' | 'expired', listener: () => void): void;
  connect(): void;
  getData(path: string, done: (error: { name: string } | null) => void): void;
}

const { connectString, path, sessionTimeout } = ordersOf<{
  connectString: string;
  path: string;
  sessionTimeout: number;
}>();
const client = driver.createClient(connectString, { sessionTimeout, spinDelay: 50 }) as unknown as PlainReader;
for (const event of ['connected', 'disconnected', 'expired'] as const) client.on(event, () => say(event));
process.on('message', () => client.getData(path, (error) => say(error ? error.name : 'read')));
client.connect();
