// Browsers that are signed in: the cookie, what is stored of it, how long it lasts, and who hears that it has ended.
import { createHash, randomBytes } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import type { SessionRecord, UserRecord } from '../../storage/people-records.ts';
import type { Store } from '../../storage/store.ts';
import { type Arrival, isSecure, readCookie } from '../http/request-origin.ts';

/** Without a request or an open live view for this long it is over; and in any case after the second. */
const IDLE_MS = 24 * 3_600_000;
const LONGEST_MS = 30 * 24 * 3_600_000;
/** Each touch is a write. */
const TOUCH_MS = 5 * 60_000;
/** Of what a browser says of itself. */
const MAX_AGENT = 300;

export interface SignedIn {
  hash: string;
  orgId: string;
  user: UserRecord;
  /** What a request that changes something must send in Offhook-CSRF. */
  csrfToken: string;
}

export interface Sessions {
  /** A new session; `cookie` is the whole Set-Cookie. */
  start(
    user: UserRecord,
    arrival: Arrival,
    o: { how: SessionRecord['how']; address: string },
  ): Promise<{ session: SignedIn; cookie: string }>;
  /** The session of a request's cookie, or null; counts as use. */
  find(arrival: Arrival): Promise<SignedIn | null>;
  /** Whether a session that is known goes on; counts as use. For live views, which ask no more. */
  goesOn(hash: string): Promise<boolean>;
  /** @returns the Set-Cookie that takes the cookie away */
  end(session: { hash: string }, arrival: Arrival): Promise<string>;
  /** Every session of the user has ended in storage. */
  endedAll(userId: string): void;
  onEnd(hear: (ended: { hash: string } | { userId: string }) => void): void;
}

const hashOf = (value: string) => createHash('sha256').update(value).digest('hex');
/** Follows from the cookie, which a page cannot read, and does not lead back to it. */
const csrfOf = (value: string) => createHash('sha256').update(`csrf ${value}`).digest('base64url');

/** With TLS the prefix makes browsers refuse the cookie from any other host, path or plain http (RFC 6265bis, 4.1.3). */
const cookieName = (secure: boolean) => (secure ? '__Host-offhook_session' : 'offhook_session');

function cookieOf(value: string, secure: boolean, maxAgeSeconds: number): string {
  return `${cookieName(secure)}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

/** @param publicUrl decides with the request whether cookies are Secure */
export function openSessions(o: {
  store: Pick<Store, 'createSession' | 'findSession' | 'touchSession' | 'endSession' | 'getUser'>;
  publicUrl: string;
  now: () => Date;
}): Sessions {
  const listeners: Parameters<Sessions['onEnd']>[0][] = [];
  const tell: Parameters<Sessions['onEnd']>[0] = (ended) => {
    for (const hear of listeners) hear(ended);
  };

  async function live(hash: string) {
    const found = await o.store.findSession(hash);
    if (found === null) return null;
    const user = await o.store.getUser(found.org_id, found.user_id);
    const now = o.now();
    const idleEnd = Date.parse(found.last_seen_at) + IDLE_MS;
    const isOver = now.getTime() >= Math.min(idleEnd, Date.parse(found.expires_at));
    if (isOver || user === null || user.disabled_at !== null) {
      // It is over whether or not that can be written, as on a full disk: the next look comes to the same.
      await o.store.endSession(hash).catch(() => {});
      tell({ hash });
      return null;
    }
    // Not worth a refused request: when the disk is full, looking at what happens goes on.
    if (now.getTime() - Date.parse(found.last_seen_at) >= TOUCH_MS)
      await o.store.touchSession(hash, now.toISOString()).catch(() => {});
    return { hash, orgId: found.org_id, user };
  }

  return {
    async start(user, arrival, { how, address }) {
      const value = randomBytes(32).toString('base64url');
      const now = o.now();
      const hash = hashOf(value);
      const agent = arrival.headers['user-agent'];
      await o.store.createSession({
        id: uuidv7(),
        hash,
        user_id: user.id,
        org_id: user.org_id,
        how,
        address,
        agent: typeof agent === 'string' ? agent.slice(0, MAX_AGENT) : null,
        created_at: now.toISOString(),
        last_seen_at: now.toISOString(),
        expires_at: new Date(now.getTime() + LONGEST_MS).toISOString(),
      });
      const session = { hash, orgId: user.org_id, user, csrfToken: csrfOf(value) };
      return { session, cookie: cookieOf(value, isSecure(arrival, o.publicUrl), LONGEST_MS / 1000) };
    },

    async find(arrival) {
      // Only the name that this request's connection calls for: a plain cookie never counts behind TLS.
      const value = readCookie(arrival, cookieName(isSecure(arrival, o.publicUrl)));
      if (value === null || !/^[\w-]{43}$/.test(value)) return null;
      const found = await live(hashOf(value));
      return found && { ...found, csrfToken: csrfOf(value) };
    },

    goesOn: async (hash) => (await live(hash)) !== null,

    async end(session, arrival) {
      await o.store.endSession(session.hash);
      tell({ hash: session.hash });
      return cookieOf('', isSecure(arrival, o.publicUrl), 0);
    },

    endedAll: (userId) => tell({ userId }),
    onEnd: (hear) => void listeners.push(hear),
  };
}
