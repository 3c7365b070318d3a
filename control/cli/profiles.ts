// Which daemon, and with which key: profiles in a file that only its owner reads. Flags and the environment come first.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

export const DEFAULT_URL = 'http://127.0.0.1:8080';

export interface Profile {
  url: string;
  api_key: string;
}

export interface Profiles {
  current: string;
  profiles: Record<string, Profile>;
}

type Environment = Record<string, string | undefined>;

/** OFFHOOK_CONFIG, else $XDG_CONFIG_HOME/offhook/config.json, else ~/.config/offhook/config.json. */
function profilesPath(env: Environment): string {
  return (
    env.OFFHOOK_CONFIG ?? join(env.XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'offhook', 'config.json')
  );
}

/** @throws Error when the file is there and cannot be read as what it should be */
export function readProfiles(env: Environment): Profiles {
  const path = profilesPath(env);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { current: 'default', profiles: {} };
    throw error;
  }
  try {
    const { current, profiles } = JSON.parse(text) as Partial<Profiles>;
    if (typeof current === 'string' && typeof profiles === 'object') return { current, profiles };
  } catch {
    // As wrong as what parses to something else.
  }
  throw new Error(`${path} is not a list of profiles: mend or remove it, then "offhook login".`);
}

/** Replaces the file as a whole. */
export function writeProfiles(env: Environment, profiles: Profiles): string {
  const path = profilesPath(env);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
  return path;
}

/**
 * The daemon a command speaks to: --url and --api-key, else OFFHOOK_URL and OFFHOOK_API_KEY, else the profile.
 * A key is only ever sent to the address it was kept for.
 * @throws Error for a profile that is not there
 */
export function chooseDaemon(
  flags: { url?: string | undefined; apiKey?: string | undefined; profile?: string | undefined },
  env: Environment,
): { url: string; apiKey: string | undefined; profile: string | null } {
  // An empty variable is one that is not set.
  const url = flags.url ?? (env.OFFHOOK_URL || undefined);
  const apiKey = flags.apiKey ?? (env.OFFHOOK_API_KEY || undefined);
  const asked = flags.profile ?? (env.OFFHOOK_PROFILE || undefined);
  if (url !== undefined && asked === undefined) return { url, apiKey, profile: null };
  const { current, profiles } = readProfiles(env);
  const name = asked ?? current;
  const profile = profiles[name];
  if (profile === undefined && asked !== undefined) {
    const known = Object.keys(profiles);
    throw new Error(
      `There is no profile "${name}"${known.length === 0 ? '' : ` (there are: ${known.join(', ')})`}; "offhook login --profile ${name}" makes it.`,
    );
  }
  const chosen = url ?? profile?.url ?? DEFAULT_URL;
  const own = profile !== undefined && profile.url === chosen ? profile.api_key : undefined;
  return { url: chosen, apiKey: apiKey ?? own, profile: profile === undefined ? null : name };
}
