package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;

/** Curator's locks that one holds at a time, or many readers: mutex, semaphore mutex, read-write lock. */
public final class Locks {
    private final CuratorFramework client;
    private final Map<String, InterProcessMutex> mutexes = new ConcurrentHashMap<>();
    private final Map<String, InterProcessSemaphoreMutex> semaphoreMutexes = new ConcurrentHashMap<>();
    private final Map<String, InterProcessReadWriteLock> readWriteLocks = new ConcurrentHashMap<>();

    private Locks(CuratorFramework client) {
        this.client = client;
    }

    /** Arguments: the connect string, the session timeout in milliseconds. */
    public static void main(String[] args) throws Exception {
        Locks locks = new Locks(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands().on("acquire", locks::acquire).on("release", locks::release).run();
    }

    /** When it was granted, on the machine's monotonic clock in nanoseconds; `null` when it was not. */
    private Object acquire(JsonNode params) throws Exception {
        boolean isGranted = lockOf(params).acquire(params.get("waitMs").asLong(), TimeUnit.MILLISECONDS);
        return isGranted ? System.nanoTime() : null;
    }

    /** Until when it was surely held. */
    private Object release(JsonNode params) throws Exception {
        long heldUntil = System.nanoTime();
        lockOf(params).release();
        return heldUntil;
    }

    private InterProcessLock lockOf(JsonNode params) {
        String path = params.get("path").asText();
        switch (params.get("kind").asText()) {
            case "mutex":
                return mutexes.computeIfAbsent(path, at -> new InterProcessMutex(client, at));
            case "semaphore mutex":
                return semaphoreMutexes.computeIfAbsent(path, at -> new InterProcessSemaphoreMutex(client, at));
            case "read":
                return readWriteLockOf(path).readLock();
            case "write":
                return readWriteLockOf(path).writeLock();
            default:
                throw new IllegalArgumentException("no such kind: " + params);
        }
    }

    private InterProcessReadWriteLock readWriteLockOf(String path) {
        return readWriteLocks.computeIfAbsent(path, at -> new InterProcessReadWriteLock(client, at));
    }
}
