import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import type { BrowserContext } from 'playwright-core';

const USUAL = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** A browser that was started for tests. */
export interface Started {
  /** Opens a context without cookies and without a cache. */
  open(options?: Parameters<Awaited<ReturnType<typeof launch>>['newContext']>[0]): Promise<BrowserContext>;
  close(): Promise<void>;
}

/** Starts Chromium with a profile of its own. @throws when there is none */
export async function startChromium(): Promise<Started> {
  const profile = mkdtempSync(join(tmpdir(), 'chromium-'));
  const browser = await launch(profile);
  return {
    open: (options) => browser.newContext(options),
    close: async () => {
      await browser.close();
      rmSync(profile, { recursive: true, force: true });
    },
  };
}

function launch(home: string) {
  const found = [process.env.CHROMIUM_PATH, ...USUAL].find((path) => path !== undefined && existsSync(path));
  if (found === undefined) throw new Error("no Chromium is here: install Debian's package, or set CHROMIUM_PATH");
  return chromium.launch({
    executablePath: found,
    headless: true,
    // Chromium's sandbox cannot be used by root.
    args: [...FLAGS, ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
    env: { ...process.env, HOME: home },
  });
}
