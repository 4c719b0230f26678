import { readFileSync } from 'node:fs';
import { Logger } from '@nestjs/common';
import type { ModuleMetadata } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { vi } from 'vitest';
import { started } from '../app.js';

/** Makes a mistake. @returns what is printed */
export type Mistake = () => Promise<string> | string;

/** Mistakes by their names in docs/troubleshooting.md. */
export type Mistakes = Readonly<Record<string, Mistake>>;

const PAGE = new URL('../../../docs/troubleshooting.md', import.meta.url);

/** Returns the output on the page by the name of the mistake. `…` stands for text that differs from case to case. */
export function printedOnPage(page = readFileSync(PAGE, 'utf8')): ReadonlyMap<string, string> {
  const blocks = page.matchAll(/^<!-- (\S+) -->\n+```text\n([^]*?)^```$/gm);
  return new Map([...blocks].map(([, name = '', text = '']) => [name, inOneLine(text)]));
}

/** Returns a pattern that matches the text of the page. */
export function patternOf(text: string): RegExp {
  const parts = text.split('…').map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'u');
}

export function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

/** Returns the message of the error that the work throws or rejects with. */
export async function refusalOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  return '(nothing is refused)';
}

/** Returns the warnings that are logged during the work. */
export async function warningsOf(work: () => unknown): Promise<string> {
  const warn = vi.spyOn(Logger.prototype, 'warn').mockReturnValue();
  try {
    await work();
    return warn.mock.calls.map(([message]) => String(message)).join('\n');
  } finally {
    warn.mockRestore();
  }
}

export const boot = (metadata: ModuleMetadata) => started(Test.createTestingModule(metadata).compile());

/** Returns a value of the wrong type without a type check. */
export const unchecked = <T>(value: unknown) => value as T;
