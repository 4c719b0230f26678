#!/usr/bin/env node
import { runCommand } from './run-command.js';

void runCommand(process.argv.slice(2)).then((exitCode) => {
  process.exitCode = exitCode;
});
