// Ranges of IP addresses as settings name them, and which addresses an outgoing request may reach: everything public, and
// what the operator opened. No lookups here.
import { BlockList, isIPv4, isIPv6 } from 'node:net';
import { ConfigError } from '../../config.ts';

/** `public`: reachable for all; `opened`: private, and the operator allows it; `blocked`: never dialled. */
export type AddressVerdict = 'public' | 'opened' | 'blocked';

export interface AddressRules {
  /** The verdict on an IP address in text form; text that is no address is `blocked`. */
  judge(ip: string): AddressVerdict;
  /** Whether the operator opened any range at all. */
  readonly opensAny: boolean;
}

/** IANA special-purpose IPv4 ranges: this network, private, shared, loopback, link-local (cloud metadata), test, multicast, reserved. */
const BLOCKED_V4: readonly [string, number][] = [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
];

/** Only 2000::/3 is given out for global unicast; of it, these lead elsewhere (Teredo and kin, documentation, 6to4). */
const GLOBAL_V6: readonly [string, number] = ['2000::', 3];
const BLOCKED_V6: readonly [string, number][] = [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
];

/** An address in the one form the lists compare: no zone, and an IPv4-mapped one as the IPv4 address it dials. Null: no address. */
function canonical(ip: string): { family: 'ipv4' | 'ipv6'; address: string } | null {
  if (isIPv4(ip)) return { family: 'ipv4', address: ip };
  const bare = ip.split('%')[0] ?? '';
  if (!isIPv6(bare)) return null;
  // The URL parser prints an IPv6 address in its one shortest form, always in hexadecimal groups.
  const address = new URL(`http://[${bare}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address);
  if (mapped === null) return { family: 'ipv6', address };
  const high = Number.parseInt(mapped[1] ?? '', 16);
  const low = Number.parseInt(mapped[2] ?? '', 16);
  return { family: 'ipv4', address: `${high >> 8}.${high & 255}.${low >> 8}.${low & 255}` };
}

function addRange(list: BlockList, range: string, setting: string): void {
  const [text = '', bits, ...rest] = range.split('/');
  const parsed = canonical(text);
  const width = parsed?.family === 'ipv4' ? 32 : 128;
  const prefix = bits === undefined ? width : /^\d{1,3}$/.test(bits) ? Number(bits) : -1;
  if (parsed === null || text.includes('%') || rest.length > 0 || prefix < 0 || prefix > width) {
    throw new ConfigError(`${setting}: "${range}" is not an address range such as 10.0.0.0/8 or fd00::/8`);
  }
  list.addSubnet(parsed.address, prefix, parsed.family);
}

/**
 * Whether an IP address in text form is in one of the ranges of a setting; text that is no address is in none.
 * @throws ConfigError naming the setting and its first range that cannot be read
 */
export function readRanges(setting: string, ranges: readonly string[]): (ip: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) addRange(list, range, setting);
  return (ip) => {
    const parsed = canonical(ip);
    return parsed !== null && list.check(parsed.address, parsed.family);
  };
}

/**
 * The rules for outgoing requests.
 * @param allowedCidrs ranges the operator opens, over the built-in list: `10.0.0.0/8`, `fd00::/8`, `192.168.1.7`.
 * @throws ConfigError naming the first range that cannot be read.
 */
export function readAddressRules(allowedCidrs: readonly string[]): AddressRules {
  const isOpened = readRanges('WEBHOOK_ALLOWED_CIDRS', allowedCidrs);
  // Two lists: in one, an IPv6 range such as ::/3 would also match IPv4 addresses in their mapped form.
  const blocked4 = new BlockList();
  for (const [network, prefix] of BLOCKED_V4) blocked4.addSubnet(network, prefix, 'ipv4');
  const blocked6 = new BlockList();
  for (const [network, prefix] of BLOCKED_V6) blocked6.addSubnet(network, prefix, 'ipv6');
  const global6 = new BlockList();
  global6.addSubnet(GLOBAL_V6[0], GLOBAL_V6[1], 'ipv6');

  return {
    opensAny: allowedCidrs.length > 0,
    judge(ip) {
      const parsed = canonical(ip);
      if (parsed === null) return 'blocked';
      const { address, family } = parsed;
      if (isOpened(ip)) return 'opened';
      if (family === 'ipv4') return blocked4.check(address, 'ipv4') ? 'blocked' : 'public';
      return global6.check(address, 'ipv6') && !blocked6.check(address, 'ipv6') ? 'public' : 'blocked';
    },
  };
}
