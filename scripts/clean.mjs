import { rmSync } from 'node:fs';

// A file that has left lib/ must leave dist/ too, or it would still be published.
rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true });
