import { SomeNetwork } from '../network/some-network.js';
import { someProcess } from '../world/some-process.js';
import type { SomeProcess } from '../world/some-process.js';
import type { Site } from './built-ins.js';
import { Bundle } from './bundle.js';

/** A site for a process of a test, in the world of a test network. */
export function someSite(
  { world, network }: SomeNetwork,
  name: string,
  pid: number,
  options: SomeProcess & { readonly said?: string[] } = {},
): Site {
  return {
    world,
    network,
    process: someProcess(world, name, options),
    host: `host-of-${name}`,
    pid,
    nextPort: () => 2_181,
    say: (text) => options.said?.push(text),
  };
}

/** Instantiates CommonJS code in a turn of the site's process. Resolves with its exports. */
export async function instantiate<Exports>(site: Site, code: string): Promise<Exports> {
  const bundle = new Bundle<Exports>(code, 'test');
  let exports: Exports | undefined;
  site.process.deliver(() => (exports = bundle.instantiate(site)));
  await site.world.run(site.world.now, () => exports !== undefined);
  return exports!;
}
