import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesBelow, ROOT } from './repository.js';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Tools for tests, and commands that write to a terminal. The page runs in a browser. */
const OTHERS = /^lib\/(testing|command|dashboard\/page)\//;
/** A call of a logger, or of a function that is called `warn`. */
const CALL = /(?:\blogger|#logger|#log|\blog|#report|\bthis)\.#?(?:log|warn|error|debug)\(\s*|(?<![.#\w])warn\(\s*/g;
/** Shorter texts are found by chance. */
const LEAST = 10;
/** Pages shorten long lines. */
const MOST = 24;

/** The first fixed part of each text that a source gives to a logger. A call with a variable gives none. */
function textsOf(source: string): string[] {
  return [...source.matchAll(CALL)].flatMap(({ index, 0: call }) => {
    const rest = source.slice(index + call.length);
    const literals = /^(?:(?:'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`)[\s+]*)+/.exec(rest)?.[0] ?? '';
    const fixed = literals.split(/\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|['`][\s+]*['`]|^['`]|['`][\s+]*$/);
    const words = fixed.map((text) => text.replace(/^[^\w@]+|[^\w)]+$/g, ''));
    return words.filter((text) => text.length >= LEAST).slice(0, 1);
  });
}

/** The texts that no page has. */
function undocumented(source: string, pages: string): string[] {
  return textsOf(source).filter((text) => !pages.includes(text.slice(0, MOST)));
}

describe('every line that the library logs', () => {
  const pages = filesBelow('docs')
    .filter((path) => path.endsWith('.md') && !path.startsWith('docs/adr/'))
    .map((path) => read(path).replaceAll(/\s+/g, ' '))
    .join('\n');
  const sources = filesBelow('lib').filter((path) => path.endsWith('.ts') && !OTHERS.test(path));

  it('is on a page of the documentation', () => {
    const found = sources.flatMap((path) => undocumented(read(path), pages).map((text) => `${path}: ${text}`));
    expect(found).toEqual([]);
    expect(sources.flatMap((path) => textsOf(read(path))).length).toBeGreaterThan(25);
  });

  it('is missed where no page has it', () => {
    const planted =
      'if (x) logger.warn(`the moon is ${phase} over ${place}`);\nlogger.log(message);\nwarn(`${"x"}: seen at its ` + 1);';
    expect(textsOf(planted)).toEqual(['the moon is', 'seen at its']);
    expect(undocumented(planted, pages)).toEqual(['the moon is', 'seen at its']);
    expect(undocumented("this.#log.warn('connected again to ' + server)", pages)).toEqual([]);
  });
});
