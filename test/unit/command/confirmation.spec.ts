import { PassThrough } from 'node:stream';
import { expect, it } from 'vitest';
import { answerTo } from '../../../lib/command/confirmation.js';

const asked = (input: PassThrough) => answerTo('Type the key: ', input, new PassThrough());

it('a question has the line that is typed as its answer', async () => {
  const input = new PassThrough();
  const answer = asked(input);
  input.write('orders/42\n');
  expect(await answer).toBe('orders/42');
});

it('a question has no for an answer when the input ends', async () => {
  const input = new PassThrough();
  const answer = asked(input);
  input.end();
  expect(await answer).toBe('');
}, 5_000);
