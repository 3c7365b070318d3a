// PURE. Whether the page that opens a media socket is one of ours: browsers say truly where a page comes from.

/**
 * True when the page's origin is the daemon's own: by its public address, or by the address it was asked under (a page
 * opened on the machine itself, beside a public address). That it may have this call, its one-time token proves.
 * @param url the stream's public address, ws or wss
 */
export function isOwnOrigin(o: {
  headers: { origin?: string | undefined; host?: string | undefined };
  url: string;
}): boolean {
  const { origin, host } = o.headers;
  if (typeof origin !== 'string' || !URL.canParse(origin)) return false;
  const page = new URL(origin);
  if (page.protocol !== 'http:' && page.protocol !== 'https:') return false;
  const own = new URL(o.url.replace(/^ws/, 'http'));
  return page.origin === own.origin || page.host === host?.toLowerCase();
}
