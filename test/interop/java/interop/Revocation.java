package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.Revoker;

/** A Curator mutex that gives way when it is asked to, and Curator's way to ask others. */
public final class Revocation {
    private final CuratorFramework client;
    private InterProcessMutex mutex;
    private CountDownLatch revoked;

    private Revocation(CuratorFramework client) {
        this.client = client;
    }

    public static void main(String[] args) throws Exception {
        Revocation revocation = new Revocation(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands()
                .on("acquire", revocation::acquire)
                .on("untilRevoked", revocation::untilRevoked)
                .on("release", revocation::release)
                .on("revoke", revocation::revoke)
                .run();
    }

    private Object acquire(JsonNode params) throws Exception {
        revoked = new CountDownLatch(1);
        mutex = new InterProcessMutex(client, params.get("path").asText());
        CountDownLatch latch = revoked;
        mutex.makeRevocable(it -> latch.countDown());
        return mutex.acquire(60, TimeUnit.SECONDS);
    }

    /** Asked in a thread of its own: whoever holds the mutex must be free to release it. */
    private Object untilRevoked(JsonNode params) throws Exception {
        return revoked.await(60, TimeUnit.SECONDS);
    }

    private Object release(JsonNode params) throws Exception {
        mutex.release();
        return null;
    }

    private Object revoke(JsonNode params) throws Exception {
        Revoker.attemptRevoke(client, params.get("path").asText());
        return null;
    }
}
