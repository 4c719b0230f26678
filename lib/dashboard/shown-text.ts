const MOST_CHARACTERS = 256;

// Control characters, and those that change the direction of the text around them or cannot be seen.
const HIDDEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/**
 * Returns text of other clients as it may be shown: short, and with escapes in place of characters that nobody can see.
 * The page never makes HTML of it, so nothing else needs an escape.
 */
export function shownText(text: string): string {
  const short = text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
  return short.toWellFormed().replace(HIDDEN, (hidden) => `\\u${hidden.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns the text as it may be shown, or `null` when there is none. */
export function shownOrNull(text: unknown): string | null {
  return typeof text === 'string' && text !== '' ? shownText(text) : null;
}
