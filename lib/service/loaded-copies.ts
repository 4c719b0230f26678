const COPIES = Symbol.for('nestjs-distributed-lock:copies');

type Holder = typeof globalThis & { [COPIES]?: Set<string> };

/** The files that this module was loaded from. A test runner that loads one file again has no second copy. */
const files = ((globalThis as Holder)[COPIES] ??= new Set());

files.add(fileOfThis());

/** A bundle of ES modules may have no file name left. */
function fileOfThis(): string {
  try {
    return import.meta.filename ?? '(a bundle)';
  } catch {
    return '(a bundle)';
  }
}

/**
 * What is wrong where a class of one copy of the package does not find the module of another, and what to do about it.
 * `undefined` while there is one copy only.
 */
export function severalCopies(): string | undefined {
  if (files.size < 2) return undefined;
  return (
    `${files.size} copies of nestjs-distributed-lock are loaded (${[...files].join(', ')}), and the decorators of one ` +
    'do not find the LockModule of another. "npm ls nestjs-distributed-lock" shows what installs them; have one version ' +
    'in all packages and run "npm dedupe", so that one copy is left'
  );
}
