/** One caller's way to a lock. */
interface Locker {
    void acquire(boolean isRead) throws Exception;

    void release(boolean isRead) throws Exception;
}
