import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;

/** The acquisitions of one caller, for the file that the bench reads (see support/tenure-file.ts). */
final class TenureLog {
    private static final int FIELDS = 6;
    private double[] numbers;
    private int end = 0;

    TenureLog() {
        this(256);
    }

    /** @param expected how many there will probably be */
    TenureLog(int expected) {
        numbers = new double[expected * FIELDS];
    }

    void add(double lock, boolean isShared, long asked, long from, long to, long released) {
        if (end == numbers.length) numbers = Arrays.copyOf(numbers, 2 * end);
        numbers[end++] = lock;
        numbers[end++] = isShared ? 1 : 0;
        numbers[end++] = asked;
        numbers[end++] = from;
        numbers[end++] = to;
        numbers[end++] = released;
    }

    static void write(String file, List<TenureLog> logs) throws IOException {
        try (FileChannel channel =
                FileChannel.open(Path.of(file), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (TenureLog log : logs) {
                ByteBuffer bytes = ByteBuffer.allocate(8 * log.end).order(ByteOrder.nativeOrder());
                for (int place = 0; place < log.end; place++) bytes.putDouble(log.numbers[place]);
                bytes.flip();
                while (bytes.hasRemaining()) channel.write(bytes);
            }
        }
    }
}
