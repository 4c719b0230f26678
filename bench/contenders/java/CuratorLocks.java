import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.retry.RetryOneTime;

/** Curator's locks over one client of this process. */
final class CuratorLocks implements AutoCloseable {
    private final CuratorFramework client;
    private final String kind;
    /** The objects that all callers of the process share. */
    private final Map<String, InterProcessLock> shared = new ConcurrentHashMap<>();

    CuratorLocks(String kind, String address) throws Exception {
        this.kind = kind;
        client = CuratorFrameworkFactory.newClient(address, 30_000, 15_000, new RetryOneTime(100));
        client.start();
        client.blockUntilConnected();
    }

    /** Called once for every caller. */
    Locker locker(String key) {
        String path = "/curator/" + key;
        switch (kind) {
            case "mutex per caller":
                return lockerOf(new InterProcessMutex(client, path));
            case "mutex per process":
                return lockerOf(shared.computeIfAbsent(path, at -> new InterProcessMutex(client, at)));
            case "semaphore mutex":
                return lockerOf(new InterProcessSemaphoreMutex(client, path));
            case "read-write":
                return readWriteLockerOf(new InterProcessReadWriteLock(client, path));
            default:
                throw new IllegalArgumentException("no contender " + kind);
        }
    }

    private static Locker lockerOf(InterProcessLock lock) {
        return new Locker() {
            @Override
            public void acquire(boolean isRead) throws Exception {
                lock.acquire();
            }

            @Override
            public void release(boolean isRead) throws Exception {
                lock.release();
            }
        };
    }

    private static Locker readWriteLockerOf(InterProcessReadWriteLock lock) {
        Locker reader = lockerOf(lock.readLock());
        Locker writer = lockerOf(lock.writeLock());
        return new Locker() {
            @Override
            public void acquire(boolean isRead) throws Exception {
                (isRead ? reader : writer).acquire(isRead);
            }

            @Override
            public void release(boolean isRead) throws Exception {
                (isRead ? reader : writer).release(isRead);
            }
        };
    }

    @Override
    public void close() {
        client.close();
    }
}
