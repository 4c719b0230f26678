import { get as request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { serveDashboard } from './dashboard-app.js';
import { PLATFORMS } from './platforms.js';
import type { Platform } from './platforms.js';

/** The headers of a browser that follows a link of another site, or comes from a single sign-on. */
const FOLLOWED = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };

/** Returns the status of a GET. `fetch` replaces these headers by its own. */
const statusOf = (url: string, headers: Record<string, string>) =>
  new Promise<number | undefined>((resolve, reject) => {
    request(url, { headers, agent: false }, (answer) => resolve(answer.resume().statusCode)).on('error', reject);
  });

describe.each(Object.keys(PLATFORMS) as Platform[])('a link of another site, on %s', (platform) => {
  it.each(['cross-site', 'same-site'])('opens the document, and none of the data: %s', async (site) => {
    const { url } = await serveDashboard({ platform });
    const headers = { ...FOLLOWED, 'sec-fetch-site': site };
    expect(await statusOf(`${url}/locks`, headers)).toBe(200);
    for (const data of ['api/state', 'api/key?id=a', 'assets/main.js'])
      expect(await statusOf(`${url}/locks/${data}`, headers)).toBe(403);
  });

  it('opens nothing in a frame, and nothing for a script', async () => {
    const { url } = await serveDashboard({ platform });
    expect(await statusOf(`${url}/locks`, { ...FOLLOWED, 'sec-fetch-dest': 'iframe' })).toBe(403);
    expect(await statusOf(`${url}/locks`, { ...FOLLOWED, 'sec-fetch-mode': 'no-cors' })).toBe(403);
  });

  it('opens nothing that authorize refuses', async () => {
    const { url } = await serveDashboard({ platform, options: { authorize: () => false } });
    expect(await statusOf(`${url}/locks`, FOLLOWED)).toBe(403);
  });
});
