import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LockConfigurationError } from '../contract/errors.js';

/** A file of the page. */
export interface PageFile {
  readonly text: string;
  readonly type: string;
  readonly etag: string;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/**
 * Reads all files of the page, once. Requests choose from the table, so that no path of a request reaches the disk.
 * @param folder the option `assets`; default: beside this code
 * @throws LockConfigurationError when the files are not there
 */
export function readPageFiles(folder: string | undefined): ReadonlyMap<string, PageFile> {
  const home = folder === undefined ? new URL('./page/', import.meta.url) : pathToFileURL(`${folder}/`);
  const names = filesIn(home).filter((name) => extname(name) in TYPES);
  if (!names.includes('main.js')) {
    throw new LockConfigurationError(
      `LockDashboardModule: the files of the page are not in ${fileURLToPath(home)}: when a bundler has moved the code, copy the ` +
        'folder dist/cjs/code/dashboard/page of nestjs-distributed-lock, and name the copy by the option assets',
    );
  }
  return new Map(names.map((name) => [name, fileAt(home, name)]));
}

function filesIn(home: URL): string[] {
  try {
    return readdirSync(home);
  } catch {
    return [];
  }
}

function fileAt(home: URL, name: string): PageFile {
  const text = readFileSync(new URL(name, home), 'utf8');
  return { text, type: TYPES[extname(name)] ?? 'text/plain', etag: etagOf(text) };
}

/** Returns the `ETag` of a text. */
export function etagOf(text: string): string {
  return `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
}

/**
 * Returns the document of the page. It contains no data and no inline code.
 * @param base the folder of its files and requests, relative to its own URL
 */
export function pageDocument(base: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Locks</title>
<base href="${attribute(base)}">
<link rel="icon" href="assets/icon.svg">
<link rel="stylesheet" href="assets/page.css">
<script type="module" src="assets/main.js"></script>
</head>
<body>
<div id="app"><noscript>This page needs JavaScript.</noscript></div>
</body>
</html>
`;
}

/**
 * Returns the base of a page that was requested at this URL: relative, so that it holds behind a proxy that strips a
 * prefix.
 */
export function baseOf(url: string, publicPath: string | undefined): string {
  if (publicPath !== undefined) return `${publicPath.replace(/\/+$/, '')}/`;
  const [path = ''] = url.split(/[?#]/);
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last === '' ? './' : `./${last}/`;
}

function attribute(text: string): string {
  return text.replace(/[&"'<>]/g, (character) => `&#${character.charCodeAt(0)};`);
}
