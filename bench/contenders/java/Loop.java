import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntFunction;

/** Lets callers, a thread each, take locks and give them back until the window has ended. */
final class Loop {
    private Loop() {}

    static void run(CuratorLocks locks, JsonNode order, ObjectNode report) throws Exception {
        int callers = order.get("callers").asInt();
        JsonNode keys = order.get("keys");
        JsonNode numbers = order.get("locks");
        List<TenureLog> logs = new ArrayList<>();
        List<Callable<Void>> calls = new ArrayList<>();
        for (int caller = 0; caller < callers; caller++) {
            String key = keys.get(caller % keys.size()).asText();
            Locker locker = order.get("areKeysNew").asBoolean() ? null : locks.locker(key);
            IntFunction<Locker> lockerOf = count -> locker != null ? locker : locks.locker(key + "/" + count);
            double lock = numbers.get(caller % numbers.size()).asDouble();
            TenureLog log = new TenureLog();
            logs.add(log);
            calls.add(() -> call(lockerOf, lock, order, log));
        }
        ExecutorService threads = Executors.newFixedThreadPool(callers);
        List<Future<Void>> ends = new ArrayList<>();
        for (Callable<Void> one : calls) ends.add(threads.submit(one));
        ArrayNode marks = report.putArray("marks");
        for (String at : new String[] {"beginAt", "endAt"}) mark(order.get(at).asLong(), marks);
        for (Future<Void> end : ends) end.get();
        threads.shutdown();
        TenureLog.write(order.get("file").asText(), logs);
    }

    private static Void call(IntFunction<Locker> lockerOf, double lock, JsonNode order, TenureLog log) throws Exception {
        long pauseMs = order.get("pauseMs").asLong();
        long insideMs = order.get("insideMs").asLong();
        double readShare = order.get("readShare").asDouble();
        long endAt = order.get("endAt").asLong();
        int lingerTimes = order.get("lingers").get("times").asInt();
        long lingerMs = Math.max(insideMs, order.get("lingers").get("ms").asLong());
        long asked = System.nanoTime();
        int count = 0;
        do {
            long stayMs = count++ < lingerTimes ? lingerMs : insideMs;
            boolean isRead = readShare > 0 && ThreadLocalRandom.current().nextDouble() < readShare;
            Locker locker = lockerOf.apply(count);
            locker.acquire(isRead);
            long from = System.nanoTime();
            if (stayMs > 0) Thread.sleep(stayMs);
            long to = System.nanoTime();
            locker.release(isRead);
            long released = System.nanoTime();
            log.add(lock, isRead, asked, from, to, released);
            if (pauseMs > 0) Thread.sleep(pauseMs);
            asked = pauseMs > 0 ? System.nanoTime() : released;
        } while (asked < endAt);
        return null;
    }

    private static void mark(long at, ArrayNode marks) throws InterruptedException {
        long leftNs = at - System.nanoTime();
        if (leftNs > 0) Thread.sleep(leftNs / 1_000_000, (int) (leftNs % 1_000_000));
        marks.addObject().put("at", System.nanoTime()).put("cpuUs", Memory.cpuUs());
    }
}
