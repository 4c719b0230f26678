import { tryFailOvers } from './fail-over.js';
import { LONG_SCOPES, SCOPES } from './scopes.js';

/** Tries the fail-over rules of Redis in all scopes. The exit code is 1 when one of them is violated. */
for (const [name, scope] of Object.entries({ ...SCOPES, ...LONG_SCOPES })) {
  const beganAt = performance.now();
  const { states, grants, failures, violation } = await tryFailOvers(scope);
  const seconds = Math.round((performance.now() - beganAt) / 1_000);
  console.log(`${name}: ${states} states, ${grants} grants, ${failures} failures of a server, ${seconds} s`);
  if (!violation) continue;
  console.log([violation.what, ...violation.steps].join('\n  '));
  process.exitCode = 1;
}
