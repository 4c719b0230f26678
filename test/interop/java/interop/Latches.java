package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.Participant;

/** Curator's LeaderLatch: candidates by id on a path. */
public final class Latches {
    private final CuratorFramework client;
    private final Map<String, LeaderLatch> latches = new ConcurrentHashMap<>();

    private Latches(CuratorFramework client) {
        this.client = client;
    }

    /** Arguments: the connect string, the session timeout in milliseconds. */
    public static void main(String[] args) throws Exception {
        Latches latches = new Latches(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands()
                .on("campaign", latches::campaign)
                .on("elected", latches::elected)
                .on("leads", params -> latches.latch(params).hasLeadership())
                .on("leader", params -> seen(latches.latch(params).getLeader()))
                .on("participants", latches::participants)
                .on("resign", latches::resign)
                .run();
    }

    /** Stands for election; does not wait for it. */
    private Object campaign(JsonNode params) throws Exception {
        LeaderLatch latch = new LeaderLatch(client, params.get("path").asText(), params.get("id").asText());
        latches.put(keyOf(params), latch);
        latch.start();
        return null;
    }

    /** Whether it was elected within so many milliseconds. */
    private Object elected(JsonNode params) throws Exception {
        return latch(params).await(params.get("waitMs").asLong(), TimeUnit.MILLISECONDS);
    }

    private Object participants(JsonNode params) throws Exception {
        return latch(params).getParticipants().stream().map(Latches::seen).toArray();
    }

    private Object resign(JsonNode params) throws Exception {
        latches.remove(keyOf(params)).close();
        return null;
    }

    private LeaderLatch latch(JsonNode params) {
        return latches.get(keyOf(params));
    }

    private static Map<String, Object> seen(Participant participant) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("id", participant.getId());
        fields.put("isLeader", participant.isLeader());
        return fields;
    }

    private static String keyOf(JsonNode params) {
        return params.get("path").asText() + " " + params.get("id").asText();
    }
}
