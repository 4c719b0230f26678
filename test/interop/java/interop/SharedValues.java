package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.shared.SharedCount;
import org.apache.curator.framework.recipes.shared.SharedValue;
import org.apache.curator.framework.recipes.shared.VersionedValue;

/** Curator's SharedCount and SharedValue, each time as one that has just been started. */
public final class SharedValues {
    private static final int SEED = 0;
    private final CuratorFramework client;

    private SharedValues(CuratorFramework client) {
        this.client = client;
    }

    /** Arguments: the connect string, the session timeout in milliseconds. */
    public static void main(String[] args) throws Exception {
        SharedValues values = new SharedValues(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands().on("count", values::count).on("add", values::add).on("text", values::text).run();
    }

    private Object count(JsonNode params) throws Exception {
        try (SharedCount count = new SharedCount(client, params.get("path").asText(), SEED)) {
            count.start();
            if (params.has("value")) count.setCount(params.get("value").asInt());
            Map<String, Object> seen = new LinkedHashMap<>();
            seen.put("value", count.getVersionedValue().getValue());
            seen.put("version", count.getVersionedValue().getVersion());
            return seen;
        }
    }

    /** Adds one, so many times, each as often as it takes. */
    private Object add(JsonNode params) throws Exception {
        try (SharedCount count = new SharedCount(client, params.get("path").asText(), SEED)) {
            count.start();
            for (int left = params.get("times").asInt(); left > 0; ) {
                VersionedValue<Integer> seen = count.getVersionedValue();
                if (count.trySetCount(seen, seen.getValue() + 1)) left--;
            }
            return null;
        }
    }

    private Object text(JsonNode params) throws Exception {
        try (SharedValue value = new SharedValue(client, params.get("path").asText(), new byte[0])) {
            value.start();
            if (params.has("value")) value.setValue(params.get("value").asText().getBytes(StandardCharsets.UTF_8));
            return new String(value.getValue(), StandardCharsets.UTF_8);
        }
    }
}
