package interop;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.queue.DistributedQueue;
import org.apache.curator.framework.recipes.queue.MultiItem;
import org.apache.curator.framework.recipes.queue.QueueBuilder;
import org.apache.curator.framework.recipes.queue.QueueConsumer;
import org.apache.curator.framework.recipes.queue.QueueSerializer;
import org.apache.curator.framework.state.ConnectionState;

/** Curator's DistributedQueue with a lockPath: what is put, and what its consumer is handed. */
public final class Queues {
    private final CuratorFramework client;
    private final BlockingQueue<String> received = new LinkedBlockingQueue<>();

    private Queues(CuratorFramework client) {
        this.client = client;
    }

    /** Arguments: the connect string, the session timeout in milliseconds. */
    public static void main(String[] args) throws Exception {
        Queues queues = new Queues(Curator.connect(args[0], Integer.parseInt(args[1])));
        new Commands()
                .on("put", queues::put)
                .on("consume", queues::consume)
                .on("received", queues::received)
                .run();
    }

    /** Each value an item of its own; all in one item when there is `together`. */
    private Object put(JsonNode params) throws Exception {
        List<String> values = new ArrayList<>();
        params.get("values").forEach(value -> values.add(value.asText()));
        try (DistributedQueue<String> queue = builder(null, params).buildQueue()) {
            queue.start();
            if (params.path("together").asBoolean()) queue.putMulti(multi(values.iterator()));
            else for (String value : values) queue.put(value);
            queue.flushPuts(10, TimeUnit.SECONDS);
        }
        return null;
    }

    /** Takes items from now on. With `forever` the first one is never done. */
    private Object consume(JsonNode params) throws Exception {
        boolean isForever = params.path("forever").asBoolean();
        QueueConsumer<String> consumer =
                new QueueConsumer<String>() {
                    @Override
                    public void consumeMessage(String message) throws Exception {
                        received.add(message);
                        if (isForever) Thread.sleep(Long.MAX_VALUE);
                    }

                    @Override
                    public void stateChanged(CuratorFramework of, ConnectionState state) {}
                };
        builder(consumer, params).buildQueue().start();
        return null;
    }

    /** The next item that the consumer was handed. */
    private Object received(JsonNode params) throws Exception {
        return received.poll(params.get("waitMs").asLong(), TimeUnit.MILLISECONDS);
    }

    private QueueBuilder<String> builder(QueueConsumer<String> consumer, JsonNode params) {
        String path = params.get("path").asText();
        return QueueBuilder.builder(client, consumer, new Text(), path).lockPath(path + "-claims");
    }

    private static MultiItem<String> multi(Iterator<String> values) {
        return () -> values.hasNext() ? values.next() : null;
    }

    private static final class Text implements QueueSerializer<String> {
        @Override
        public byte[] serialize(String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public String deserialize(byte[] bytes) {
            return new String(Arrays.copyOf(bytes, bytes.length), StandardCharsets.UTF_8);
        }
    }
}
