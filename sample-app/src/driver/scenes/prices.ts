import { grossOf } from '../../prices/prices.js';
import type { Prices } from '../../prices/prices.js';
import { tally } from '../answer.js';
import type { Answer } from '../answer.js';
import type { Cluster } from '../cluster.js';
import type { Scene } from '../scene.js';

export const prices: Scene = {
  name: 'prices',
  story: 'many read a pair of prices while it is rewritten, and must never see half of a change',
  violation: 'half-written pairs read',

  async play({ shop, files, sizes }) {
    await files.write('prices/net', 100);
    await files.write('prices/gross', grossOf(100));
    const shoppers = Array.from({ length: sizes.shoppers }, () => readQuotes(shop, sizes.quotesEach));
    const [written, ...read] = await Promise.all([rewrite(shop, sizes.reprices), ...shoppers]);
    const quotes = read.flat();
    const torn = quotes.filter(({ status, body }) => status === 200 && isTorn(body as Prices));
    return {
      ...tally([...quotes, ...written]),
      violations: torn.length,
      remark: `${sizes.shoppers} shoppers read while the prices changed ${sizes.reprices} times`,
    };
  },
};

function rewrite(shop: Cluster, count: number): Promise<readonly Answer[]> {
  return inTurn(count, (n) => shop.next.put('/prices', { net: 100 + 5 * n }));
}

function readQuotes(shop: Cluster, count: number): Promise<readonly Answer[]> {
  return inTurn(count, () => shop.next.get('/prices'));
}

async function inTurn(count: number, send: (n: number) => Promise<Answer>): Promise<readonly Answer[]> {
  const answers: Answer[] = [];
  for (let n = 1; n <= count; n++) answers.push(await send(n));
  return answers;
}

function isTorn({ net, gross }: Prices): boolean {
  return gross !== grossOf(net);
}
