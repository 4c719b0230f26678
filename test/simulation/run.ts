/**
 * `npm run simulate -- [--hours H] [--seed S] [--seconds N] [--scenario NAME] [--defect NAME|all] [--replay SEED]
 * [--shrink SEED] [--guided] [--node PATH]`, or `npm run simulate -- --exhaustive [--scenario NAME]
 * [--deviations N|all] [--faults N] [--choices LIST] [--defect NAME]`.
 * README.md describes each option. The last line is `N simulated hours, N seeds, N findings`.
 */
import { simulateCommand } from './command/simulate.js';

process.exitCode = await simulateCommand(process.argv.slice(2));
