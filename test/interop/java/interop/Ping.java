package interop;

/** Answers pings, and nothing else. */
public final class Ping {
    private Ping() {}

    public static void main(String[] args) throws Exception {
        new Commands().on("echo", params -> params).on("fail", params -> {
            throw new IllegalStateException("as asked for");
        }).run();
    }
}
