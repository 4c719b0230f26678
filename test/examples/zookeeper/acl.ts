import { zookeeper } from 'nestjs-distributed-lock';

const READ = 1;
const ALL = 31; // READ 1 + WRITE 2 + CREATE 4 + DELETE 8 + ADMIN 16

export const readableByOperators = (password: string) =>
  zookeeper({
    connectString: 'zk1:2181,zk2:2181,zk3:2181/shop',
    auth: { scheme: 'digest', credentials: `shop:${password}` },
    acl: [
      { permissions: ALL, scheme: 'auth', id: '' }, // every identity of the session
      { permissions: READ, scheme: 'ip', id: '203.0.113.0/24' },
    ],
  });
