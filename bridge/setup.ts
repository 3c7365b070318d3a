// What a carrier or a model is known by before it is opened: settings, whom it is asked at, how it is tried. PURE types.
import type { Config } from '../config.ts';

export type SettingName = keyof Config;

/** A server, and the domain of the vendor whose it usually is. */
export interface Address {
  url: string;
  vendor: string;
}

/** A GET as JSON. Never rejects; redirects are answers. */
export type Ask = (
  url: string,
  headers: Record<string, string>,
) => Promise<{ status: number; body: unknown } | { error: string }>;

/** What a trial found, in words for whoever sets the daemon up; `mend` says what to do about it. */
export type Found =
  | { state: 'ok' | 'skip'; says: string }
  | { state: 'warn' | 'fail'; says: string; mend: string };
