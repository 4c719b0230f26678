import { zookeeper } from 'nestjs-distributed-lock';

export const withPassword = (password: string) =>
  zookeeper({
    connectString: 'zk1:2181,zk2:2181,zk3:2181/shop',
    auth: { scheme: 'digest', credentials: `shop:${password}` },
  });
