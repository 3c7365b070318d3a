// Where a request comes from: its address, whether the browser reached us by TLS, and whether our own page sent it.
// Headers that a client can invent are believed only where inventing them gains nothing. PURE.

export interface Arrival {
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Of the socket. */
  remoteAddress: string | undefined;
  /** Of the socket's own end: where it was listened. */
  localAddress?: string | undefined;
  localPort?: number | undefined;
}

/** Under which names the daemon is asked. */
export interface HostRules {
  /** PUBLIC_URL as it is set. */
  publicUrl: string | null;
  /** Further names and addresses, without ports. */
  allowed: readonly string[];
}

const one = (value: string | string[] | undefined): string | undefined =>
  Array.isArray(value) ? value.at(-1) : value;

const isLoopback = (address: string) => /^(127\.|::1$|::ffff:127\.)/.test(address);

/** What a proxy adds; a request without any of them came straight to the daemon. */
const PROXY_HEADERS = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
  'cf-connecting-ip',
  'via',
];

/** The name in a Host header or a URL as it is compared, and its port; null when it is none. */
function readHost(host: string | undefined): { name: string; port: number } | null {
  if (host === undefined || !/^[^/?#@\\\s]+$/.test(host) || !URL.canParse(`http://${host}`)) return null;
  const { hostname, port } = new URL(`http://${host}`);
  return { name: hostname.replace(/^\[|\]$|\.$/g, ''), port: port === '' ? 80 : Number(port) };
}

const isLocalName = (name: string) => /^(localhost|.+\.localhost|127(\.\d+){3}|::1)$/.test(name);

/**
 * Whether the name that was asked is one of ours: this host's own, the address that was reached, PUBLIC_URL's or one that is
 * allowed. A page elsewhere whose name was turned to this address (DNS rebinding) asks under its own.
 */
export function isOwnHost({ headers, localAddress }: Arrival, { publicUrl, allowed }: HostRules): boolean {
  const asked = readHost(one(headers.host))?.name;
  if (asked === undefined) return false;
  if (isLocalName(asked)) return true;
  const own = [localAddress?.replace('::ffff:', ''), ...allowed];
  if (publicUrl !== null) own.push(new URL(publicUrl).hostname);
  return own.some((name) => name !== undefined && readHost(bracketed(name))?.name === asked);
}

const bracketed = (name: string) => (name.includes(':') && !name.startsWith('[') ? `[${name}]` : name);

/**
 * Whether somebody at this machine asks, and nobody through it. A proxy need not tell that it is one: where PUBLIC_URL leads
 * anywhere but to this listener there is one, and nobody is known to be here.
 */
export function isLocalOperator(arrival: Arrival, { publicUrl }: HostRules): boolean {
  const { headers, remoteAddress = '', localPort } = arrival;
  const isOurs = (host: string | undefined) => {
    const read = readHost(host);
    return read !== null && isLocalName(read.name) && read.port === localPort;
  };
  return (
    isLoopback(remoteAddress) &&
    PROXY_HEADERS.every((name) => headers[name] === undefined) &&
    isOurs(one(headers.host)) &&
    (publicUrl === null || isOurs(new URL(publicUrl).host))
  );
}

/** What a proxy wrote down for an address, without a port; null for what is none, such as `unknown`. */
function readAddress(text: string): string | null {
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(text)?.[1] ?? text.replace(/^([\d.]+):\d+$/, '$1');
  return /^(?=.*[.:])[\da-f.:]{3,45}$/i.test(bare) ? bare.toLowerCase() : null;
}

/**
 * Who asks, for counting what one address does. Behind a proxy on this host, or one that is trusted, it is the last address of
 * X-Forwarded-For, which that proxy wrote; from anywhere else the header is the client's own tale. Of IPv6 the network
 * counts, since one has 2^64 of them.
 */
export function clientAddress(
  { headers, remoteAddress = 'unknown' }: Arrival,
  trustsProxy: (address: string) => boolean,
): string {
  const told = (one(headers['x-forwarded-for']) ?? '').split(',').map((text) => text.trim());
  let address = remoteAddress;
  while (isLoopback(address) || trustsProxy(address)) {
    const before = readAddress(told.pop() ?? '');
    if (before === null) break;
    address = before;
  }
  if (!address.includes(':') || address.startsWith('::')) return address.replace('::ffff:', '');
  const [head = ''] = address.split('::');
  return `${head.split(':').slice(0, 4).join(':')}::/64`;
}

/** As `clientAddress`; `shared` where that is as far as one can see, and many may come by it: this host, a trusted proxy. */
export function clientOf(
  arrival: Arrival,
  trustsProxy: (address: string) => boolean,
): { address: string; shared: boolean } {
  const address = clientAddress(arrival, trustsProxy);
  return { address, shared: address === '127.0.0.1' || address === '::1' || trustsProxy(address) };
}

/**
 * Whether the browser speaks TLS, so that the cookie may demand it. An https PUBLIC_URL decides; the one exception is a
 * browser on this host that came straight here (`http://localhost:8080`), where a Secure cookie could not be set.
 * X-Forwarded-Proto can only make it stricter.
 */
export function isSecure({ headers, remoteAddress = '' }: Arrival, publicUrl: string): boolean {
  if (one(headers['x-forwarded-proto'])?.split(',').at(-1)?.trim().toLowerCase() === 'https') return true;
  if (!publicUrl.startsWith('https://')) return false;
  const host = one(headers.host) ?? '';
  const straight = isLoopback(remoteAddress) && PROXY_HEADERS.every((name) => headers[name] === undefined);
  return !(straight && /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i.test(host));
}

/**
 * Whether our own page sent it. Sec-Fetch-Site is the browser's word and no script can set it, but it comes over TLS and on
 * localhost only; without it, Origin must be the host that was asked, or PUBLIC_URL's behind a proxy that changes Host.
 */
export function fromOwnPage({ headers }: Arrival, publicUrl: string): boolean {
  const site = one(headers['sec-fetch-site']);
  if (site !== undefined) return site === 'same-origin';
  const origin = one(headers.origin);
  if (origin === undefined || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  return url.host === one(headers.host)?.toLowerCase() || url.origin === new URL(publicUrl).origin;
}

/** Whether a page of another site asks; somebody who typed the address is no other site. */
export function fromOtherSite({ headers }: Arrival): boolean {
  const site = one(headers['sec-fetch-site']);
  return site !== undefined && site !== 'same-origin' && site !== 'none';
}

/** A cookie's value by its exact name. */
export function readCookie({ headers }: Arrival, name: string): string | null {
  for (const part of (one(headers.cookie) ?? '').split(';')) {
    const [key, ...value] = part.split('=');
    if (key?.trim() === name) return value.join('=').trim();
  }
  return null;
}
