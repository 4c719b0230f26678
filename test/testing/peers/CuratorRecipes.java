import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.atomic.DistributedAtomicLong;
import org.apache.curator.framework.recipes.barriers.DistributedBarrier;
import org.apache.curator.framework.recipes.barriers.DistributedDoubleBarrier;
import org.apache.curator.framework.recipes.cache.CuratorCache;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.leader.LeaderSelector;
import org.apache.curator.framework.recipes.leader.LeaderSelectorListenerAdapter;
import org.apache.curator.framework.recipes.locks.InterProcessLock;
import org.apache.curator.framework.recipes.locks.InterProcessMultiLock;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessReadWriteLock;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.nodes.PersistentNode;
import org.apache.curator.framework.recipes.queue.SimpleDistributedQueue;
import org.apache.curator.framework.recipes.watch.PersistentWatcher;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;

/** Curator's recipes against the ZooKeeper whose address is the argument. Prints the name of each that has done its work. */
public class CuratorRecipes {
  private static final int LIMIT = 30;
  private static final int WORKERS = 4;
  private static final int ROUNDS = 20;
  private static final List<CuratorFramework> CLIENTS = new ArrayList<>();

  private interface Recipe {
    void run(CuratorFramework one, CuratorFramework other) throws Exception;
  }

  private interface MakeLock {
    InterProcessLock on(CuratorFramework client);
  }

  public static void main(String[] args) throws Exception {
    for (int client = 0; client < WORKERS; client++) CLIENTS.add(connect(args[0]));
    run("mutex", (one, other) -> counted((client) -> new InterProcessMutex(client, "/locks/mutex")));
    run("semaphoreMutex", (one, other) -> counted((client) -> new InterProcessSemaphoreMutex(client, "/locks/plain")));
    run("writeLock", (one, other) -> counted((client) -> new InterProcessReadWriteLock(client, "/locks/rw").writeLock()));
    run("readWriteLock", CuratorRecipes::readWriteLock);
    run("multiLock", (one, other) -> counted((client) -> new InterProcessMultiLock(client, Arrays.asList("/m/1", "/m/2"))));
    run("semaphore", CuratorRecipes::semaphore);
    run("leaderLatch", CuratorRecipes::leaderLatch);
    run("leaderSelector", CuratorRecipes::leaderSelector);
    run("barrier", CuratorRecipes::barrier);
    run("doubleBarrier", CuratorRecipes::doubleBarrier);
    run("queue", CuratorRecipes::queue);
    run("atomicLong", CuratorRecipes::atomicLong);
    run("cache", CuratorRecipes::cache);
    run("persistentWatcher", CuratorRecipes::persistentWatcher);
    run("persistentNode", CuratorRecipes::persistentNode);
    run("transaction", CuratorRecipes::transaction);
    run("timeToLive", CuratorRecipes::timeToLive);
    for (CuratorFramework client : CLIENTS) client.close();
    System.exit(0);
  }

  private static CuratorFramework connect(String hosts) throws Exception {
    CuratorFramework client =
        CuratorFrameworkFactory.newClient(hosts, 8_000, 8_000, new ExponentialBackoffRetry(100, 5));
    client.start();
    check(client.blockUntilConnected(LIMIT, TimeUnit.SECONDS), "not connected");
    return client;
  }

  private static void run(String name, Recipe recipe) throws Exception {
    recipe.run(CLIENTS.get(0), CLIENTS.get(1));
    System.out.println(name);
  }

  private static void check(boolean isRight, String complaint) {
    if (!isRight) throw new IllegalStateException(complaint);
  }

  private static void eventually(String complaint, Callable<Boolean> isRight) throws Exception {
    long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT);
    while (!isRight.call()) {
      check(System.nanoTime() < until, complaint);
      Thread.sleep(10);
    }
  }

  /** Nobody is ever inside with another one, and all get their turn. */
  private static void counted(MakeLock make) throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger turns = new AtomicInteger();
    together(WORKERS, (worker) -> {
      InterProcessLock lock = make.on(CLIENTS.get(worker));
      for (int round = 0; round < ROUNDS; round++) {
        check(lock.acquire(LIMIT, TimeUnit.SECONDS), "no turn");
        check(inside.incrementAndGet() == 1, "two at once");
        turns.incrementAndGet();
        inside.decrementAndGet();
        lock.release();
      }
    });
    check(turns.get() == WORKERS * ROUNDS, "a turn is missing");
  }

  private interface Work {
    void by(int worker) throws Exception;
  }

  private static void together(int workers, Work work) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(workers);
    List<Future<Void>> ends = new ArrayList<>();
    for (int at = 0; at < workers; at++) {
      int worker = at;
      Callable<Void> call = () -> {
        work.by(worker);
        return null;
      };
      ends.add(threads.submit(call));
    }
    for (Future<Void> end : ends) end.get(2 * LIMIT, TimeUnit.SECONDS);
    threads.shutdown();
  }

  private static void readWriteLock(CuratorFramework one, CuratorFramework other) throws Exception {
    InterProcessReadWriteLock mine = new InterProcessReadWriteLock(one, "/locks/rw2");
    InterProcessReadWriteLock theirs = new InterProcessReadWriteLock(other, "/locks/rw2");
    check(mine.readLock().acquire(LIMIT, TimeUnit.SECONDS), "first reader");
    check(theirs.readLock().acquire(LIMIT, TimeUnit.SECONDS), "second reader");
    theirs.readLock().release();
    check(!theirs.writeLock().acquire(100, TimeUnit.MILLISECONDS), "a writer beside a reader");
    mine.readLock().release();
    check(theirs.writeLock().acquire(LIMIT, TimeUnit.SECONDS), "the writer");
    theirs.writeLock().release();
  }

  private static void semaphore(CuratorFramework one, CuratorFramework other) throws Exception {
    AtomicInteger inside = new AtomicInteger();
    together(WORKERS, (worker) -> {
      InterProcessSemaphoreV2 semaphore = new InterProcessSemaphoreV2(CLIENTS.get(worker), "/semaphore", 2);
      for (int round = 0; round < ROUNDS; round++) {
        var lease = semaphore.acquire(1, LIMIT, TimeUnit.SECONDS);
        check(lease != null && inside.incrementAndGet() <= 2, "too many");
        inside.decrementAndGet();
        semaphore.returnAll(lease);
      }
    });
  }

  private static void leaderLatch(CuratorFramework one, CuratorFramework other) throws Exception {
    LeaderLatch first = new LeaderLatch(one, "/latch", "one");
    LeaderLatch second = new LeaderLatch(other, "/latch", "other");
    first.start();
    check(first.await(LIMIT, TimeUnit.SECONDS), "no leader");
    second.start();
    check(!second.await(100, TimeUnit.MILLISECONDS), "two leaders");
    eventually("participants", () -> first.getParticipants().size() == 2);
    first.close();
    check(second.await(LIMIT, TimeUnit.SECONDS), "no next leader");
    second.close();
  }

  private static void leaderSelector(CuratorFramework one, CuratorFramework other) throws Exception {
    CountDownLatch led = new CountDownLatch(2);
    List<LeaderSelector> selectors = new ArrayList<>();
    for (CuratorFramework client : Arrays.asList(one, other)) {
      LeaderSelector selector = new LeaderSelector(client, "/selector", new LeaderSelectorListenerAdapter() {
        @Override
        public void takeLeadership(CuratorFramework leader) {
          led.countDown();
        }
      });
      selector.start();
      selectors.add(selector);
    }
    check(led.await(LIMIT, TimeUnit.SECONDS), "not everybody has led");
    for (LeaderSelector selector : selectors) selector.close();
  }

  private static void barrier(CuratorFramework one, CuratorFramework other) throws Exception {
    DistributedBarrier barrier = new DistributedBarrier(one, "/barrier");
    barrier.setBarrier();
    DistributedBarrier waiting = new DistributedBarrier(other, "/barrier");
    check(!waiting.waitOnBarrier(100, TimeUnit.MILLISECONDS), "open too early");
    barrier.removeBarrier();
    check(waiting.waitOnBarrier(LIMIT, TimeUnit.SECONDS), "not open");
  }

  private static void doubleBarrier(CuratorFramework one, CuratorFramework other) throws Exception {
    together(WORKERS, (worker) -> {
      DistributedDoubleBarrier both = new DistributedDoubleBarrier(CLIENTS.get(worker), "/double", WORKERS);
      check(both.enter(LIMIT, TimeUnit.SECONDS), "not in");
      check(both.leave(LIMIT, TimeUnit.SECONDS), "not out");
    });
  }

  private static void queue(CuratorFramework one, CuratorFramework other) throws Exception {
    SimpleDistributedQueue queue = new SimpleDistributedQueue(one, "/queue");
    queue.offer("1".getBytes());
    queue.offer("2".getBytes());
    SimpleDistributedQueue taking = new SimpleDistributedQueue(other, "/queue");
    check(new String(taking.take()).equals("1") && new String(taking.take()).equals("2"), "order");
  }

  private static void atomicLong(CuratorFramework one, CuratorFramework other) throws Exception {
    together(WORKERS, (worker) -> {
      DistributedAtomicLong count =
          new DistributedAtomicLong(CLIENTS.get(worker), "/count", new ExponentialBackoffRetry(5, 29));
      for (int round = 0; round < ROUNDS; ) if (count.increment().succeeded()) round++;
    });
    long value = new DistributedAtomicLong(one, "/count", new ExponentialBackoffRetry(5, 29)).get().postValue();
    check(value == WORKERS * ROUNDS, "counted " + value);
  }

  private static void cache(CuratorFramework one, CuratorFramework other) throws Exception {
    other.create().creatingParentsIfNeeded().forPath("/cached/a");
    CuratorCache cache = CuratorCache.build(one, "/cached");
    Semaphore changes = new Semaphore(0);
    cache.listenable().addListener((type, before, after) -> changes.release());
    cache.start();
    check(changes.tryAcquire(2, LIMIT, TimeUnit.SECONDS), "what there is not seen");
    other.create().forPath("/cached/a/b");
    check(changes.tryAcquire(LIMIT, TimeUnit.SECONDS), "the new one not seen");
    other.delete().forPath("/cached/a/b");
    check(changes.tryAcquire(LIMIT, TimeUnit.SECONDS), "its end not seen");
    cache.close();
  }

  private static void persistentWatcher(CuratorFramework one, CuratorFramework other) throws Exception {
    CountDownLatch events = new CountDownLatch(3);
    PersistentWatcher watcher = new PersistentWatcher(one, "/watched", true);
    watcher.getListenable().addListener((event) -> events.countDown());
    CountDownLatch isSet = new CountDownLatch(1);
    watcher.getResetListenable().addListener(isSet::countDown);
    watcher.start();
    check(isSet.await(LIMIT, TimeUnit.SECONDS), "not set");
    other.create().forPath("/watched");
    other.create().forPath("/watched/a");
    other.delete().forPath("/watched/a");
    check(events.await(LIMIT, TimeUnit.SECONDS), "events missing: " + events.getCount());
    watcher.close();
  }

  private static void persistentNode(CuratorFramework one, CuratorFramework other) throws Exception {
    PersistentNode node = new PersistentNode(one, CreateMode.EPHEMERAL, false, "/kept", "x".getBytes());
    node.start();
    check(node.waitForInitialCreate(LIMIT, TimeUnit.SECONDS), "not created");
    other.delete().forPath("/kept");
    eventually("not created again", () -> other.checkExists().forPath("/kept") != null);
    node.close();
  }

  private static void transaction(CuratorFramework one, CuratorFramework other) throws Exception {
    one.transaction().forOperations(
        one.transactionOp().create().forPath("/both", "x".getBytes()),
        one.transactionOp().setData().withVersion(0).forPath("/both", "y".getBytes()),
        one.transactionOp().check().withVersion(1).forPath("/both"));
    check(new String(other.getData().forPath("/both")).equals("y"), "not done");
    try {
      one.transaction().forOperations(
          one.transactionOp().delete().forPath("/both"), one.transactionOp().create().forPath("/no/parent"));
      throw new IllegalStateException("done in part");
    } catch (KeeperException.NoNodeException expected) {
      check(other.checkExists().forPath("/both") != null, "undone in part");
    }
  }

  private static void timeToLive(CuratorFramework one, CuratorFramework other) throws Exception {
    one.create().withTtl(100).withMode(CreateMode.PERSISTENT_WITH_TTL).forPath("/short");
    eventually("it lives on", () -> other.checkExists().forPath("/short") == null);
  }
}
