package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;

/** Curator's barriers and double barriers. A thread is one member of a double barrier. */
public final class Barriers {
    private final CuratorFramework client;
    private final Map<String, DistributedDoubleBarrier> members = new ConcurrentHashMap<>();

    private Barriers(CuratorFramework client) {
        this.client = client;
    }

    /** Arguments: the connect string, the session timeout in milliseconds. */
    public static void main(String[] args) throws Exception {
        Barriers barriers = new Barriers(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands()
                .on("raise", barriers::raise)
                .on("lift", barriers::lift)
                .on("wait", barriers::await)
                .on("enter", barriers::enter)
                .on("leave", barriers::leave)
                .run();
    }

    private Object raise(JsonNode params) throws Exception {
        barrier(params).setBarrier();
        return null;
    }

    private Object lift(JsonNode params) throws Exception {
        barrier(params).removeBarrier();
        return null;
    }

    private Object await(JsonNode params) throws Exception {
        return barrier(params).waitOnBarrier(waitMs(params), TimeUnit.MILLISECONDS);
    }

    private Object enter(JsonNode params) throws Exception {
        int count = params.get("count").asInt();
        DistributedDoubleBarrier member = new DistributedDoubleBarrier(client, path(params), count);
        members.put(Thread.currentThread().getName() + path(params), member);
        return member.enter(waitMs(params), TimeUnit.MILLISECONDS);
    }

    private Object leave(JsonNode params) throws Exception {
        DistributedDoubleBarrier member = members.remove(Thread.currentThread().getName() + path(params));
        return member.leave(waitMs(params), TimeUnit.MILLISECONDS);
    }

    private DistributedBarrier barrier(JsonNode params) {
        return new DistributedBarrier(client, path(params));
    }

    private static String path(JsonNode params) {
        return params.get("path").asText();
    }

    private static long waitMs(JsonNode params) {
        return params.path("waitMs").asLong(30_000);
    }
}
