/** An event of a watched znode (org.apache.zookeeper.Watcher.Event.EventType). */
export const WatchEvent = { created: 1, deleted: 2, dataChanged: 3, childrenChanged: 4 } as const;

export type WatchEvent = (typeof WatchEvent)[keyof typeof WatchEvent];
