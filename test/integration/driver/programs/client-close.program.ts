import { NodeZooKeeperClient } from '../../../../lib/zookeeper/client/node-zookeeper-client.js';
import { parseConnectString } from '../../../../lib/zookeeper/client/connect-string.js';
import { hangUp, ordersOf, say } from './orders.js';

// The counterpart of plain-close, with a client of this library.
const { connectString, when } = ordersOf<{ connectString: string; when: string }>();
const client = new NodeZooKeeperClient(
  { servers: parseConnectString(connectString).servers, sessionTimeoutMs: 4_000, auth: [] },
  {
    connected: () => say('connected'),
    disconnected: () => say('disconnected'),
    ended: (why) => say(why),
    answered() {},
  },
);
const close = () => {
  void client.close(1_000).then(() => {
    say('done');
    if (when === 'twice') void client.close(1_000);
    hangUp();
  });
  if (when === 'twice') void client.close(1_000);
};
if (when === 'before connect') close();
else {
  client.connect();
  if (when === 'same turn') close();
  else process.once('message', close);
}
