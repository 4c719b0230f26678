import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { dashboard, expressionsOfPanels, expressionsOfRules, RULES } from '../ops/expressions.js';
import { OF_OTHERS } from '../ops/metric-names.js';
import { ROOT } from '../support/repository-root.js';
import { RunningSample } from './running-sample.js';

/** The metrics of Prometheus' other targets, which are no part of an application. */
const OF_SERVERS = OF_OTHERS.filter((name) => !name.startsWith('nodejs_'));

const rules = () => readFileSync(join(ROOT, RULES), 'utf8');
const expressions = () => [...expressionsOfRules(rules()), ...expressionsOfPanels(dashboard())];

/** The metrics that expressions name, with `_bucket`, `_sum` and `_count` where they do. */
function namedIn(all: readonly string[]): string[] {
  const names = all.flatMap((expression) => expression.match(/\b(?:distributed_lock|nodejs)_\w+/g) ?? []);
  return [...new Set(names)].filter((name) => !OF_SERVERS.includes(name));
}

/** The metrics without a sample in any of the scrapes. */
function missingIn(scrapes: readonly string[], names: readonly string[]): string[] {
  const sampled = new Set(scrapes.flatMap((scrape) => scrape.match(/^[a-z_]\w*(?=[{ ])/gm) ?? []));
  return names.filter((name) => !sampled.has(name));
}

async function bodyOf(url: string): Promise<string> {
  // An instance that is asked to end waits for its clients to leave.
  const answer = await fetch(url, { headers: { connection: 'close' } });
  expect(`${url} ${answer.status}`).toBe(`${url} 200`);
  return answer.text();
}

describe.each([
  ['zookeeper', []],
  ['redis', ['--backend', 'redis']],
  ['etcd', ['--backend', 'etcd']],
] as const)('npm run sample -- --watch on %s', (_, args) => {
  it(
    'shows its keys on the page, and every metric of rules and panels in its scrapes',
    { timeout: 240_000 },
    async () => {
      await using sample = await RunningSample.start(...args);
      const [url] = sample.urls as [string];
      expect(sample.urls).toHaveLength(5);

      expect(await bodyOf(`${url}/locks`)).toContain('assets/main.js');
      expect(await bodyOf(`${url}/locks/assets/main.js`)).toContain("from './dom.js'");
      const keys = async () => {
        const state = JSON.parse(await bodyOf(`${url}/locks/api/state`)) as { keys: readonly { key: string }[] };
        return state.keys.map(({ key }) => key);
      };
      await expect.poll(keys, { timeout: 120_000 }).toContain('order/999999');
      const health = async () => JSON.parse(await bodyOf(`${url}/health/ready`)) as unknown;
      await expect.poll(health).toMatchObject({ status: 'ok', info: { locks: { state: 'connected' } } });
      expect(JSON.parse(await bodyOf(`${url}/health/live`))).toEqual({ status: 'ok' });

      // A job runs on one of the instances, and a margin is there while a lease is held.
      const scrapes: string[] = [];
      const scraped = async () => {
        scrapes.push(...(await Promise.all(sample.urls.map((one) => bodyOf(`${one}/metrics`)))));
        return missingIn(scrapes, namedIn(expressions()));
      };
      await expect.poll(scraped, { timeout: 120_000, interval: 500 }).toEqual([]);

      const altered = rules().replace('distributed_lock_oldest_wait_seconds', 'distributed_lock_longest_wait_seconds');
      expect(missingIn(scrapes, namedIn(expressionsOfRules(altered)))).toEqual([
        'distributed_lock_longest_wait_seconds',
      ]);

      const { code, output } = await sample.interrupt();
      expect(output).toMatch(/npx nestjs-distributed-lock list .*--base-path \/?shop-/);
      expect({ code, output }).toEqual({ code: 130, output: expect.not.stringMatching(/at .*\(|UnhandledPromise/) });
    },
  );
});
