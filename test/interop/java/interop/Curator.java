package interop;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.ExponentialBackoffRetry;

/** A Curator client as a service would have it. */
final class Curator {
    private static final int CONNECTION_TIMEOUT_MS = 15_000;

    private Curator() {}

    /** Connected, with a session of so many milliseconds. */
    static CuratorFramework connect(String connectString, int sessionTimeoutMs) throws InterruptedException {
        CuratorFramework client =
                CuratorFrameworkFactory.newClient(
                        connectString, sessionTimeoutMs, CONNECTION_TIMEOUT_MS, new ExponentialBackoffRetry(100, 5));
        client.start();
        client.blockUntilConnected();
        return client;
    }
}
