import { describe, expect, it } from 'vitest';
import type { KeyAnswer, StateAnswer } from '../../lib/dashboard/answers.js';
import { RunningSample } from './running-sample.js';

const HUNG = 'order/999999';
const HOT = 'order/7';
const PATIENCE = { timeout: 120_000, interval: 100 };

/** One instance of the sample, as an operator sees it. */
class Watched {
  constructor(readonly url: string) {}

  async page<T>(path: string): Promise<T> {
    return JSON.parse(await this.#text(`/locks/api/${path}`)) as T;
  }

  /** The largest value of a metric among the samples with these labels, or -1. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number> {
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const lines = (await this.#text('/metrics')).split('\n').filter((line) => {
      return line.startsWith(`distributed_lock_${name}{`) && wanted.every((label) => line.includes(label));
    });
    return Math.max(-1, ...lines.map((line) => Number(line.split(' ').at(-1))));
  }

  async ready(): Promise<unknown> {
    return JSON.parse(await this.#text('/health/ready'));
  }

  async #text(path: string): Promise<string> {
    // An instance that is asked to end waits for its clients to leave.
    return (await fetch(this.url + path, { headers: { connection: 'close' } })).text();
  }
}

/** The largest value of a metric among the instances. */
async function most(instances: readonly Watched[], ...of: Parameters<Watched['metric']>): Promise<number> {
  return Math.max(...(await Promise.all(instances.map((each) => each.metric(...of)))));
}

interface Shown {
  readonly state: string;
  readonly since: string;
  readonly owner: { readonly label?: string; readonly pid: number };
}

/** The holder of the key that hangs, found by the command alone. */
async function hungHolder(sample: RunningSample): Promise<Shown> {
  let found: Shown | undefined;
  const holder = async () => {
    const contenders = (await sample.command('who', HUNG)) as readonly Shown[];
    found = contenders.find(({ state, owner }) => state === 'held' && owner.label === 'OrdersService.hang');
    return found;
  };
  await expect.poll(holder, PATIENCE).toBeDefined();
  return found!;
}

/** Starts the sample, which breaks by itself, and finds each cause by its page, by its metrics and by a command alone. */
describe.each([
  ['zookeeper', []],
  ['redis', ['--backend', 'redis']],
  ['etcd', ['--backend', 'etcd']],
] as const)('an operator finds on %s', (_, args) => {
  it(
    'the hung holder, the leader, the last run, the flapping link and the lost lease',
    { timeout: 360_000 },
    async () => {
      await using sample = await RunningSample.start(...args);
      const instances = sample.urls.map((url) => new Watched(url));
      const [any, hanging, flapping] = instances as [Watched, Watched, Watched];
      const state = () => any.page<StateAnswer>('state');

      // The holder of the key, the start of its hold, and the waiting contenders.
      const holder = await hungHolder(sample);
      expect(Date.parse(holder.since)).toBeGreaterThan(Date.now() - 120_000);
      const onPage = async () => (await any.page<KeyAnswer>(`key?id=${encodeURIComponent(HUNG)}`)).contenders;
      const held = { state: 'held', owner: { label: 'OrdersService.hang', pid: holder.owner.pid } };
      await expect.poll(async () => (await onPage())[0], PATIENCE).toMatchObject(held);
      await expect.poll(async () => (await onPage()).length, PATIENCE).toBeGreaterThan(1);
      await expect
        .poll(() => hanging.metric('oldest_hold_seconds', { lock: 'OrdersService.hang' }), PATIENCE)
        .toBeGreaterThan(0);
      await expect.poll(() => most(instances, 'waiting', { lock: 'OrdersService.place' }), PATIENCE).toBeGreaterThan(0);

      // The slow key: all instances want it at once.
      const hot = (answer: unknown) =>
        (answer as Pick<StateAnswer, 'keys'>).keys.find(({ key, waiting }) => key === HOT && waiting > 0);
      await expect.poll(async () => hot(await sample.command('list', 'order/')), PATIENCE).toBeDefined();
      await expect.poll(async () => hot(await state()), PATIENCE).toBeDefined();
      const reviews = { lock: 'OrdersService.review' };
      await expect.poll(() => most(instances, 'wait_duration_seconds_sum', reviews), PATIENCE).toBeGreaterThan(1);
      await expect.poll(() => most(instances, 'blocking_seconds_total', reviews), PATIENCE).toBeGreaterThan(1);

      // The leading instance.
      await expect.poll(() => sample.command('leaders'), PATIENCE).toMatchObject([{ holding: 1, service: 'shop' }]);
      await expect
        .poll(async () => (await state()).elections, PATIENCE)
        .toMatchObject([{ holding: 1, service: 'shop' }]);
      await expect.poll(() => most(instances, 'leader'), PATIENCE).toBe(1);

      // The last run of the job.
      const ran = expect.arrayContaining([expect.objectContaining({ state: 'done' })]);
      await expect.poll(() => sample.command('cron', '--service', 'shop'), PATIENCE).toEqual(ran);
      await expect.poll(async () => (await any.page<StateAnswer>('state?view=cron')).runs, PATIENCE).toEqual(ran);
      await expect.poll(() => most(instances, 'cron_last_success_timestamp_seconds'), PATIENCE).toBeGreaterThan(0);

      // The bad link: that of one instance is cut twice a minute.
      await expect
        .poll(async () => (await flapping.page<StateAnswer>('state')).process, PATIENCE)
        .toMatchObject({ state: 'suspended' });
      await expect.poll(() => flapping.metric('session_state', { state: 'suspended' }), PATIENCE).toBe(1);
      await expect.poll(() => flapping.ready(), PATIENCE).toMatchObject({ details: { locks: { state: 'suspended' } } });
      await sample.printed(/\[C\] .* WARN .*the connection to .* is lost/);
      await sample.printed(/\[C\] .* WARN .*connected again to /);

      // The key is taken from the hung holder.
      const { owner } = await hungHolder(sample);
      await sample.command('revoke', HUNG, '--grace', '20s', '--yes');
      await sample.printed(new RegExp(`${HUNG} was revoked, and its wait queue went on`));

      // The lost lease: the process of the next hung holder stops for longer than its session.
      const { pid } = (await hungHolder(sample)).owner;
      expect(pid).toBe(owner.pid);
      process.kill(pid, 'SIGSTOP');
      try {
        const byAnother = async () =>
          ((await sample.command('who', HUNG)) as readonly Shown[]).every((each) => each.owner.pid !== pid);
        await expect.poll(byAnother, PATIENCE).toBe(true);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
      await sample.printed(new RegExp(`\\[B\\] .* ERROR .*lost \\d+ leases?: .*"${HUNG}" \\(OrdersService.hang`));
      const lost = { lock: 'OrdersService.hang', reason: 'lost' };
      await expect.poll(() => hanging.metric('leases_lost_total', lost), PATIENCE).toBe(1);
      const one = { service: 'shop', pid, named: expect.arrayContaining([{ key: HUNG, label: 'OrdersService.hang' }]) };
      const listed = expect.arrayContaining([expect.objectContaining(one)]);
      await expect.poll(() => sample.command('losses'), PATIENCE).toEqual(listed);
      // Every instance shows it, and a page that was closed at the time as well.
      const shown = async () => {
        const { losses } = await any.page<StateAnswer>('state?view=instance');
        // A session that ends again has lost other leases since.
        return losses?.find(({ owner, keys }) => owner.pid === pid && keys.includes(HUNG));
      };
      await expect.poll(shown, PATIENCE).toMatchObject({ service: 'shop' });
    },
  );
});
