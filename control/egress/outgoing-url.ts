// What a URL given by a user must look like before anything is resolved or dialled: scheme, port, user info, literal host.
import { isIP } from 'node:net';
import { AppError } from '../../errors.ts';
import type { AddressRules } from './addresses.ts';

const MAX_URL_LENGTH = 2048;

/** Below 1024 only the web's own ports are open; above, these speak other protocols that a forged request could talk to. */
const WEB_PORTS = new Set([80, 443]);
const REFUSED_PORTS = new Set([
  1080, 1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 3659, 4045, 4190, 5060,
  5061, 5432, 5672, 5900, 5984, 6000, 6379, 6380, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 9042,
  9092, 9200, 9300, 10080, 10250, 10255, 11211, 26379, 27017, 27018, 50000,
]);

export interface OutgoingUrl {
  url: URL;
  /** The host without brackets: an IP address or a name. */
  host: string;
  port: number;
  /** Plain http: every address of the host must lie in a range the operator opened. */
  openedOnly: boolean;
}

/**
 * Reads a URL that the service is to request on a user's behalf.
 * @param param the request field to blame.
 * @throws AppError `invalid_url`, or `blocked_address` for a host that is itself a closed address.
 */
export function readOutgoingUrl(text: string, rules: AddressRules, param: string): OutgoingUrl {
  const invalid = (why: string) => new AppError('invalid_url', `${param}: ${why}`, { param });
  if (text.length > MAX_URL_LENGTH) throw invalid(`the URL is longer than ${MAX_URL_LENGTH} characters`);
  // The URL parser would drop tabs and line breaks and take a backslash for a slash: what was checked by eye must be what is dialled.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u0020\u007f\\]/.test(text))
    throw invalid('the URL has a space, a backslash or a control character');
  if (!URL.canParse(text)) throw invalid('not a URL');
  const url = new URL(text);
  if (url.href.length > MAX_URL_LENGTH) throw invalid(`the URL is longer than ${MAX_URL_LENGTH} characters`);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw invalid('only https URLs are accepted');
  if (url.username !== '' || url.password !== '') throw invalid('the URL may carry no user name or password');
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  if ((port < 1024 && !WEB_PORTS.has(port)) || REFUSED_PORTS.has(port))
    throw invalid(`port ${port} is not accepted`);

  // The parser has already turned 0x7f.1, 2130706433, 017700000001 and full-width digits into dotted decimals.
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname;
  if (host === '') throw invalid('the URL has no host');
  const openedOnly = url.protocol === 'http:';
  const blocked = () =>
    new AppError(
      'blocked_address',
      `${param}: the address is not public; whoever runs the daemon can open ranges with WEBHOOK_ALLOWED_CIDRS`,
      { param, retryable: false },
    );
  if (isIP(host) !== 0) {
    const verdict = rules.judge(host);
    if (verdict === 'blocked') throw blocked();
    if (openedOnly && verdict !== 'opened') throw invalid('only https URLs are accepted');
  } else if (/(^|\.)localhost\.?$/i.test(host)) {
    if (rules.judge('127.0.0.1') !== 'opened' && rules.judge('::1') !== 'opened') throw blocked();
  } else if (openedOnly && !rules.opensAny) {
    throw invalid('only https URLs are accepted');
  }
  return { url, host, port, openedOnly };
}
