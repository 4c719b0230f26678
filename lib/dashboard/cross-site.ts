/** The headers of a request, as both HTTP platforms have them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The header that only the page's own code sets. A form cannot. */
export const OWN_HEADER = 'x-locks-page';

/**
 * Returns the reason why a request that changes something is refused; `undefined` when it comes from the page itself.
 * Browsers say by `Sec-Fetch-Site` where a request comes from. Over plain HTTP they do not, and then the host in
 * `Origin` must be the one in `Host`. A form of another site fails on each of the three rules.
 */
export function refusalOfAction(headers: RequestHeaders, allowedOrigins: readonly string[]): string | undefined {
  if (!isJson(headers['content-type'])) return 'the content type must be application/json';
  if (headers[OWN_HEADER] === undefined) return `the header ${OWN_HEADER} is missing`;
  const { origin } = headers;
  if (typeof origin === 'string' && allowedOrigins.includes(origin)) return undefined;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' ? undefined : 'it comes from another site';
  return isHostOf(headers) ? undefined : 'it does not come from the page: neither Sec-Fetch-Site nor Origin says so';
}

/**
 * Returns the reason why an answer with data is refused. A page of another origin gets none, however generous the
 * application's CORS settings are.
 */
export function refusalOfReading(headers: RequestHeaders, allowedOrigins: readonly string[]): string | undefined {
  const { origin } = headers;
  if (typeof origin === 'string' && allowedOrigins.includes(origin)) return undefined;
  const site = headers['sec-fetch-site'];
  if (site === 'cross-site' || site === 'same-site') return 'it comes from another site';
  const isForeign = site === undefined && origin !== undefined && !isHostOf(headers);
  return isForeign ? 'it comes from another site' : undefined;
}

/** Whether a browser opens the address in a tab, wherever the link to it was. A frame is none. */
export function isNavigation(headers: RequestHeaders): boolean {
  return headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
}

function isJson(contentType: unknown): boolean {
  return typeof contentType === 'string' && /^application\/json\s*(;|$)/i.test(contentType);
}

function isHostOf({ origin, host }: RequestHeaders): boolean {
  return typeof origin === 'string' && URL.canParse(origin) && new URL(origin).host === host;
}
