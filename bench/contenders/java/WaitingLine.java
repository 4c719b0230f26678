import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/** Many callers of one process, a thread each, that wait for one key, and then all get it. */
final class WaitingLine {
    private final CuratorLocks locks;
    private final String key;
    private final Locker holder;
    private final List<Thread> threads = new ArrayList<>();
    private final List<TenureLog> logs = new ArrayList<>();
    private volatile Throwable failure;
    private AtomicInteger lingersLeft;
    private long lingerMs;

    WaitingLine(CuratorLocks locks, String key) {
        this.locks = locks;
        this.key = key;
        holder = locks.locker(key);
    }

    void form(JsonNode order, ObjectNode report) throws Exception {
        int callers = order.get("callers").asInt();
        lingersLeft = new AtomicInteger(order.get("lingers").get("times").asInt());
        lingerMs = order.get("lingers").get("ms").asLong();
        holder.acquire(false);
        Memory.report(report.putObject("before"));
        report.put("beganAt", System.nanoTime());
        CountDownLatch asked = new CountDownLatch(callers);
        for (int caller = 0; caller < callers; caller++) {
            TenureLog log = new TenureLog(1);
            logs.add(log);
            Thread thread = new Thread(() -> stand(log, asked));
            threads.add(thread);
            thread.start();
        }
        asked.await();
    }

    void drain(String file) throws Exception {
        holder.release(false);
        for (Thread thread : threads) thread.join();
        TenureLog.write(file, logs);
        if (failure != null) throw new IllegalStateException(failure);
    }

    private void stand(TenureLog log, CountDownLatch hasAsked) {
        try {
            Locker locker = locks.locker(key);
            long asked = System.nanoTime();
            hasAsked.countDown();
            locker.acquire(false);
            long from = System.nanoTime();
            if (lingersLeft.getAndDecrement() > 0) Thread.sleep(lingerMs);
            long to = System.nanoTime();
            locker.release(false);
            log.add(0, false, asked, from, to, System.nanoTime());
        } catch (Throwable error) {
            failure = error;
        }
    }
}
