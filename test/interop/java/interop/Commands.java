package interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Does what the lines of the input say, until there are no more: `{"id", "verb", "thread", "params"}` is answered with
 * `{"id", "value"}` or `{"id", "error"}`. Commands of one thread run one after another, in a thread that has that name:
 * Curator's locks belong to the thread that took them.
 */
public final class Commands {
    /** The action of a verb. Its result is whatever Jackson makes JSON of; `null` where there is nothing to say. */
    public interface Handler {
        Object handle(JsonNode params) throws Exception;
    }

    private static final ObjectMapper JSON = new ObjectMapper();
    private final Map<String, Handler> handlers = new ConcurrentHashMap<>();
    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();

    public Commands() {
        on("ping", params -> "pong");
    }

    public Commands on(String verb, Handler handler) {
        handlers.put(verb, handler);
        return this;
    }

    /** Ends the process when the input ends, as it does when whoever started it is gone. */
    public void run() throws IOException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            JsonNode command = JSON.readTree(line);
            threadOf(command.path("thread").asText("main")).submit(() -> carryOut(command));
        }
        Runtime.getRuntime().halt(0);
    }

    private ExecutorService threadOf(String name) {
        return threads.computeIfAbsent(name, it -> Executors.newSingleThreadExecutor(task -> new Thread(task, it)));
    }

    private void carryOut(JsonNode command) {
        Map<String, Object> answer = new LinkedHashMap<>();
        answer.put("id", command.get("id").asLong());
        try {
            Handler handler = handlers.get(command.get("verb").asText());
            if (handler == null) throw new IllegalArgumentException("no verb " + command.get("verb"));
            answer.put("value", handler.handle(command.path("params")));
        } catch (Throwable error) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new PrintWriter(trace));
            answer.put("error", trace.toString());
        }
        say(answer);
    }

    private synchronized void say(Map<String, Object> answer) {
        try {
            // As bytes: what a print stream writes depends on the locale.
            System.out.write(JSON.writeValueAsBytes(answer));
            System.out.println();
        } catch (IOException error) {
            throw new IllegalStateException(error);
        }
    }
}
