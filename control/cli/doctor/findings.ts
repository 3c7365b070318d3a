// What a check of `offhook doctor` found, and what can be said from facts alone. PURE.

export interface Finding {
  /** What was looked at: a word or two. */
  check: string;
  state: 'ok' | 'warn' | 'fail' | 'skip';
  /** What is so. */
  says: string;
  /** What to do about it. */
  mend?: string;
}

export const ok = (check: string, says: string): Finding => ({ check, state: 'ok', says });
export const skip = (check: string, says: string): Finding => ({ check, state: 'skip', says });
export const warn = (check: string, says: string, mend: string): Finding => ({
  check,
  state: 'warn',
  says,
  mend,
});
export const fail = (check: string, says: string, mend: string): Finding => ({
  check,
  state: 'fail',
  says,
  mend,
});

const WARN_SKEW_S = 30;
/** Receivers of webhooks refuse what is older than five minutes; so do carriers' and our own checks. */
const FAIL_SKEW_S = 240;

/** Our clock beside those of others, from the `Date` of their answers and when each came. */
export function judgeClock(seen: readonly { host: string; date: string; atMs: number }[]): Finding {
  const skews = seen
    .map(({ host, date, atMs }) => ({ host, skewS: (atMs - Date.parse(date)) / 1000 }))
    .filter(({ skewS }) => Number.isFinite(skewS));
  if (skews.length === 0) return skip('clock', 'Nobody outside answered with a time to compare it with.');
  // One server may be wrong itself: the one that agrees most with us decides.
  const best = skews.reduce((a, b) => (Math.abs(b.skewS) < Math.abs(a.skewS) ? b : a));
  const off = Math.abs(best.skewS);
  const says = `It is ${off < 2 ? 'right' : `${Math.round(off)} s ${best.skewS > 0 ? 'fast' : 'slow'}`}, by ${best.host}.`;
  const mend = 'Have the host keep time by NTP: "timedatectl set-ntp true", or chrony.';
  if (off >= FAIL_SKEW_S)
    return fail('clock', says, `${mend} Receivers refuse webhooks whose time is five minutes off.`);
  return off >= WARN_SKEW_S ? warn('clock', says, mend) : ok('clock', says);
}

/** How the newest calls went, in the daemon's own words. */
export function judgeCalls({ state, text }: { state: string; text: string }): Finding {
  const mend =
    'Open one that failed in the dashboard, or "offhook calls list --status failed": each says why.';
  if (state === 'down') return fail('calls', text, mend);
  return state === 'warn' ? warn('calls', text, mend) : ok('calls', text);
}

/** Free space of the disk under DATA_DIR, beside the thresholds of the daemon. */
export function judgeDisk(freeBytes: number, o: { warnMb: number; lowMb: number; folder: string }): Finding {
  const freeMb = Math.floor(freeBytes / 1e6);
  const says = `${freeMb >= 10_000 ? `${Math.floor(freeMb / 1000)} GB` : `${freeMb} MB`} free under ${o.folder}.`;
  const mend = 'Free some space, or set DATA_DIR to a larger disk. A recording takes 1.9 MB a minute.';
  if (freeMb < o.lowMb)
    return fail('disk', `${says} Below STORAGE_LOW_MB (${o.lowMb}) no calls are taken.`, mend);
  return freeMb < o.warnMb ? warn('disk', says, mend) : ok('disk', says);
}

/** PUBLIC_URL as it is written, before anything is asked of it. */
export function judgePublicUrl(publicUrl: string | null): Finding | null {
  const mend = 'Set PUBLIC_URL to an https address that reaches this daemon: a reverse proxy, or a tunnel.';
  if (publicUrl === null)
    return warn('public URL', 'PUBLIC_URL is not set: no carrier can reach this host.', mend);
  const { protocol, hostname } = new URL(publicUrl);
  const local = /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|\[?::1)/.test(hostname);
  if (local)
    return fail('public URL', `${publicUrl} is an address inside this network: no carrier reaches it.`, mend);
  if (protocol !== 'https:')
    return fail('public URL', `${publicUrl} is not https: carriers send media over wss only.`, mend);
  return null;
}
