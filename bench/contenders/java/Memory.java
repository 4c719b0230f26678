import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** The memory that this process uses. */
final class Memory {
    private static final OperatingSystemMXBean SYSTEM =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final int PAGE_BYTES = 4_096;

    private Memory() {}

    /** After a collection of garbage. */
    static void report(ObjectNode into) throws IOException {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        String[] pages = Files.readString(Path.of("/proc/self/statm")).split(" ");
        into.put("heapBytes", runtime.totalMemory() - runtime.freeMemory());
        into.put("residentBytes", Long.parseLong(pages[1]) * PAGE_BYTES);
    }

    /** Processor time of all threads so far, in microseconds. */
    static long cpuUs() {
        return SYSTEM.getProcessCpuTime() / 1_000;
    }
}
