import driver from 'node-zookeeper-client';
import { hangUp, ordersOf, say } from './orders.js';

// Closes the plain driver in one of its states. A program without pending work ends by itself.
interface PlainCloser {
  once(event: 'connected', listener: () => void): void;
  connect(): void;
  close(): void;
}

const { connectString, when } = ordersOf<{ connectString: string; when: string }>();
const client = driver.createClient(connectString, { sessionTimeout: 4_000, spinDelay: 50 }) as unknown as PlainCloser;
const close = () => {
  hangUp();
  client.close();
};
if (when === 'before connect') close();
else if (when === 'same turn') {
  client.connect();
  close();
} else {
  if (when === 'connected') client.once('connected', () => say('connected'));
  process.once('message', close);
  client.connect();
}
