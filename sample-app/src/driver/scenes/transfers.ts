import type { Transfer } from '../../transfers/transfers.controller.js';
import { isDone, tally } from '../answer.js';
import type { Scene } from '../scene.js';

const ACCOUNTS = ['anna', 'ben', 'cleo', 'dan'];
const EUROS_EACH = 1_000;
const PAIRS = ACCOUNTS.flatMap((one, place) => ACCOUNTS.slice(place + 1).map((other) => [one, other] as const));

export const transfers: Scene = {
  name: 'transfers',
  story: 'money goes to and fro between the same accounts, and each account must end up right',
  violation: 'euros astray',

  async play({ shop, files, sizes }) {
    for (const name of ACCOUNTS) await files.write(`accounts/${name}`, EUROS_EACH);
    const wanted = Array.from({ length: sizes.transfers / 2 }, (_, n) => thereAndBack(n)).flat();
    const answers = await Promise.all(wanted.map((transfer) => shop.next.post('/transfers', transfer)));
    const booked = wanted.filter((_, place) => isDone(answers[place]!));
    const balances = await Promise.all(ACCOUNTS.map((name) => files.read<number>(`accounts/${name}`)));
    const errors = ACCOUNTS.map((name, place) => Math.abs(balances[place]! - balanceAfter(name, booked)));
    return {
      ...tally(answers),
      violations: sum(errors),
      remark: `there were ${ACCOUNTS.length * EUROS_EACH} euros in all, and there are ${sum(balances)}`,
    };
  },
};

/** Returns two transfers between the same accounts in opposite directions, for two instances at the same time. */
function thereAndBack(n: number): readonly Transfer[] {
  const [from, to] = PAIRS[n % PAIRS.length]!;
  return [
    { from, to, euros: 1 + (n % 7) },
    { from: to, to: from, euros: 1 + (n % 5) },
  ];
}

function balanceAfter(name: string, transfers: readonly Transfer[]): number {
  const changes = transfers.map(({ from, to, euros }) => (to === name ? euros : from === name ? -euros : 0));
  return EUROS_EACH + sum(changes);
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((total, amount) => total + amount, 0);
}
