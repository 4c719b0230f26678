import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.StringWriter;

/** The worker of the contenders that run on Java: does what the lines of its input say, until there are no more. */
public final class Worker {
    private static final ObjectMapper JSON = new ObjectMapper();
    private CuratorLocks locks;
    private WaitingLine line;

    public static void main(String[] args) throws Exception {
        Worker worker = new Worker();
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String text = input.readLine(); text != null; text = input.readLine()) {
            System.out.println(worker.answer(text));
        }
        System.exit(0);
    }

    private String answer(String text) throws Exception {
        ObjectNode report = JSON.createObjectNode();
        try {
            carryOut(JSON.readTree(text), report);
        } catch (Throwable error) {
            StringWriter trace = new StringWriter();
            error.printStackTrace(new PrintWriter(trace));
            report.put("error", trace.toString());
        }
        return JSON.writeValueAsString(report);
    }

    private void carryOut(JsonNode order, ObjectNode report) throws Exception {
        switch (order.get("do").asText()) {
            case "open":
                locks = new CuratorLocks(order.get("contender").asText(), order.get("address").asText());
                break;
            case "loop":
                Loop.run(locks, order, report);
                break;
            case "queue":
                line = new WaitingLine(locks, order.get("key").asText());
                line.form(order, report);
                break;
            case "memory":
                Memory.report(report);
                break;
            case "drain":
                line.drain(order.get("file").asText());
                break;
            case "once":
                once(order.get("key").asText(), report);
                break;
            case "close":
                locks.close();
                break;
            default:
                throw new IllegalArgumentException("unknown order");
        }
    }

    private void once(String key, ObjectNode report) throws Exception {
        Locker locker = locks.locker(key);
        long asked = System.nanoTime();
        locker.acquire(false);
        long from = System.nanoTime();
        locker.release(false);
        report.put("asked", asked).put("from", from).put("to", from).put("released", System.nanoTime());
    }
}
