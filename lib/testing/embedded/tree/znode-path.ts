const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

export const ROOT = '/';

/** Whether a znode may have this path. The server makes this check itself before a write. */
export function isValidPath(path: string): boolean {
  if (!path.startsWith('/') || FORBIDDEN.test(path)) return false;
  if (path === ROOT) return true;
  return path
    .slice(1)
    .split('/')
    .every((part) => part !== '' && part !== '.' && part !== '..');
}

/** Returns everything before the last slash: '' for '/a'. The root is known as '' as well as '/'. */
export function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** Returns the path under which the watches of a parent are stored. */
export function watchedParentOf(path: string): string {
  return parentOf(path) || ROOT;
}

/** The path itself and all of its ancestors, up to the root. */
export function* selfAndAncestors(path: string): Generator<string> {
  yield path;
  for (let at = path; at !== ROOT && at !== '';) {
    at = watchedParentOf(at);
    yield at;
  }
}
