package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Collection;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.framework.recipes.shared.SharedCount;

/** Curator's semaphores, and the count that they share. */
public final class Semaphores {
    private final CuratorFramework client;
    private final Map<String, InterProcessSemaphoreV2> semaphores = new ConcurrentHashMap<>();
    private final Map<String, SharedCount> counts = new ConcurrentHashMap<>();
    private final Map<String, Collection<Lease>> leases = new ConcurrentHashMap<>();

    private Semaphores(CuratorFramework client) {
        this.client = client;
    }

    public static void main(String[] args) throws Exception {
        Semaphores semaphores = new Semaphores(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands()
                .on("acquire", semaphores::acquire)
                .on("release", semaphores::release)
                .on("setCount", semaphores::setCount)
                .on("count", semaphores::count)
                .run();
    }

    /** Whether so many leases were had in time; they are known by a name from then on. */
    private Object acquire(JsonNode params) throws Exception {
        int permits = params.path("permits").asInt(1);
        long waitMs = params.path("waitMs").asLong(60_000);
        Collection<Lease> taken = semaphoreOf(params).acquire(permits, waitMs, TimeUnit.MILLISECONDS);
        if (taken == null) return false;
        leases.put(params.get("name").asText(), taken);
        return true;
    }

    private Object release(JsonNode params) {
        Collection<Lease> taken = leases.remove(params.get("name").asText());
        for (Lease lease : taken) {
            try {
                lease.close();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
        }
        return taken.size();
    }

    private Object setCount(JsonNode params) throws Exception {
        countOf(params).setCount(params.get("count").asInt());
        return null;
    }

    private Object count(JsonNode params) {
        return countOf(params).getCount();
    }

    private InterProcessSemaphoreV2 semaphoreOf(JsonNode params) {
        String path = params.get("path").asText();
        return semaphores.computeIfAbsent(
                path,
                it ->
                        params.has("countPath")
                                ? new InterProcessSemaphoreV2(client, it, countOf(params))
                                : new InterProcessSemaphoreV2(client, it, params.get("max").asInt()));
    }

    private SharedCount countOf(JsonNode params) {
        return counts.computeIfAbsent(params.get("countPath").asText(), path -> {
            SharedCount count = new SharedCount(client, path, params.path("seed").asInt(1));
            try {
                count.start();
            } catch (Exception error) {
                throw new IllegalStateException(error);
            }
            return count;
        });
    }
}
