// TypeDoc reads the sources through TypeScript's API, which TypeScript 7 does not have: what typedoc imports as
// `typescript` is TypeScript 6 here. docs/adr/0017-an-api-reference-by-typescript-6.md says why. Loaded by `node --import`.
import { register } from 'node:module';

register(new URL('resolve-typescript-6.mjs', import.meta.url));
