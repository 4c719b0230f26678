/** `npm run simulate`: `--help` lists its options, and README.md describes them. */
import { simulateCommand } from './command/simulate.js';

process.exitCode = await simulateCommand(process.argv.slice(2));
