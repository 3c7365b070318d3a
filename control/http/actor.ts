// Who asks, and what he may: an API key or a person who is signed in, each by what was granted. PURE.
import { AppError } from '../../errors.ts';
import type { Role } from '../../storage/people-records.ts';

/**
 * `read`: see everything but what follows. `listen`: hear recordings, and calls that are on. `operate`: place and end calls,
 * change agents, numbers, campaigns, lists and webhooks. `admin`: keys, people, money, rules of outbound calls, what is kept
 * and for how long, erasure.
 */
export const PERMISSIONS = ['read', 'listen', 'operate', 'admin'] as const;
export type Permission = (typeof PERMISSIONS)[number];

export interface Actor {
  kind: 'key' | 'user';
  /** Of the key or the person. */
  id: string;
  /** As it is shown to others of the organization: the key's name, the person's. */
  name: string;
  may: ReadonlySet<Permission>;
}

/** To whoever has all of an organization. */
export const EVERYTHING: ReadonlySet<Permission> = new Set(PERMISSIONS);

const OF_ROLE: Readonly<Record<Role, readonly Permission[]>> = {
  owner: PERMISSIONS,
  operator: ['read', 'listen', 'operate'],
  viewer: ['read'],
};

/** What a person may. A viewer hears recordings where it is allowed to him, others in any case. */
export function permissionsOf(user: { role: Role; may_listen: boolean }): ReadonlySet<Permission> {
  return new Set([...OF_ROLE[user.role], ...(user.may_listen ? (['listen'] as const) : [])]);
}

/** What a key may: its scopes, and of one without any, everything. A scope that nobody knows any more gives nothing. */
export function permissionsOfKey(scopes: readonly string[] | null): ReadonlySet<Permission> {
  return scopes === null ? EVERYTHING : new Set(PERMISSIONS.filter((one) => scopes.includes(one)));
}

/** What a route asks for that does not say: reading to read, operating for the rest. */
export function permissionFor(method: string): Permission {
  return method === 'get' ? 'read' : 'operate';
}

const REFUSED: Readonly<Record<Permission, string>> = {
  read: 'see this',
  listen: 'hear recordings or calls',
  operate: 'change this',
  admin: 'do this, which is for owners',
};

/** @throws AppError forbidden */
export function mustBeAllowed(actor: Actor, wanted: Permission): void {
  if (actor.may.has(wanted)) return;
  const who = actor.kind === 'key' ? 'This API key' : 'Your role';
  throw new AppError('forbidden', `${who} does not allow to ${REFUSED[wanted]} (${wanted}).`);
}

/** As it is written down beside what was done. */
export function doerOf({ kind, id, name }: Actor): { kind: Actor['kind']; id: string; name: string } {
  return { kind, id, name };
}
