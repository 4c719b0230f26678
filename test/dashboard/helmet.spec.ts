import fastifyHelmet from '@fastify/helmet';
import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import helmet from 'helmet';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { browsedApp, browser, live } from './browsed-app.js';

type RequestHandler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

const open = browser();

const HELMETS = {
  express: (app: INestApplication) => app.use(helmet()),
  fastify: (app: INestApplication) => (app as NestFastifyApplication).register(fastifyHelmet),
};

it.each(['express', 'fastify'] as const)('the page works beside helmet with its defaults on %s', async (platform) => {
  const { url, locks } = await browsedApp({ actions: ['revoke'] }, { platform, configure: HELMETS[platform] });
  const lease = await locks.acquire('order/1', { label: 'Orders.place' });
  // A violation of a policy is an error of the console, and fails the test.
  const { page } = await open(url);
  await live(page);
  await page.getByRole('link', { name: 'order/1', exact: true }).click();
  await page
    .getByRole('button', { name: /revoke/i })
    .first()
    .waitFor();
  expect((await fetch(url)).headers.get('cross-origin-opener-policy')).toBe('same-origin');
  await lease.release();
});

it('a policy that is added to that of the page is noticed', async () => {
  const addPolicy: RequestHandler = (_request, response, next) => {
    const { writeHead } = response;
    response.writeHead = (...args: [number]) => {
      response.appendHeader('content-security-policy', "style-src 'none'");
      return writeHead.apply(response, args);
    };
    next();
  };
  const { url } = await browsedApp({}, { configure: (app) => app.use(addPolicy) });
  const { page, faults, ignoreFaults } = await open(url);
  ignoreFaults();
  await live(page);
  expect(faults.join()).toMatch(/style/i);
});
