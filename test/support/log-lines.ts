import { Logger } from '@nestjs/common';
import { onTestFinished, vi } from 'vitest';

const LEVELS = ['debug', 'log', 'warn', 'error'] as const;

/** The arguments of every call of Nest's loggers during the test, by level. */
export interface LogLines extends Readonly<Record<(typeof LEVELS)[number], readonly (readonly unknown[])[]>> {
  /** The contexts of the loggers that were called. */
  readonly contexts: readonly string[];
}

export function watchLog(): LogLines {
  const lines = { debug: [], log: [], warn: [], error: [] } as Record<(typeof LEVELS)[number], unknown[][]>;
  const contexts: string[] = [];
  for (const level of LEVELS) {
    const spy = vi.spyOn(Logger.prototype, level).mockImplementation(function (this: unknown, ...line: unknown[]) {
      lines[level].push(line);
      contexts.push((this as { context: string }).context);
    });
    onTestFinished(() => spy.mockRestore());
  }
  return { ...lines, contexts };
}
