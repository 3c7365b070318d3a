// The whole application with its dashboard on a socket, and a browser in front of it: one that keeps cookies and says of
// each request what a real one says.
import { randomBytes, scryptSync } from 'node:crypto';
import type { Test } from 'tap';
import { ROUTES } from '../../../control/api/routes.ts';
import { openDashboard } from '../../../control/dashboard/dashboard.ts';
import { type LiveFeed, openLiveFeed } from '../../../control/dashboard/live-feed.ts';
import { makePasswordLink } from '../../../control/http/password-link.ts';
import type { UserRecord } from '../../../storage/people-records.ts';
import { makeUser } from '../../storage/makers.ts';
import { type ApiAnswer, openRig } from '../rig.ts';

export const PASSWORD = 'a quiet line of bluebirds';

/** What is stored of a password that takes no time to compare. */
export function cheapHash(password = PASSWORD): string {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { N: 2 ** 4, r: 8, p: 1 });
  return `scrypt$4$8$1$${salt.toString('base64')}$${key.toString('base64')}`;
}

export interface Browser {
  /** Cookies by name. */
  cookies: Map<string, string>;
  /** As the page knows it: sent with every change unless a test says otherwise. */
  csrf: string | null;
  /** A request of the page itself to /dashboard/api. */
  ask(
    method: string,
    path: string,
    o?: { body?: unknown; headers?: Record<string, string | null> },
  ): Promise<ApiAnswer>;
  /** A page that is gone to, by a link of our own page or of another site's: redirects are not followed. */
  go(path: string, from: 'same-origin' | 'cross-site' | 'none'): Promise<Response>;
  /** Sets the first password by a link, or signs in. */
  setUp(password?: string): Promise<ApiAnswer>;
  signIn(password?: string): Promise<ApiAnswer>;
}

export async function openDashboardRig(
  t: Test,
  o: {
    publicUrl?: string;
    env?: Record<string, string>;
    heartbeatMs?: number;
    maxWaitingBytes?: number;
  } = {},
) {
  const dataDir = t.testdir({});
  const made: { feed?: LiveFeed; dashboard?: ReturnType<typeof openDashboard> } = {};
  const rig = await openRig(t, {
    ...(o.env ? { env: o.env } : {}),
    dashboard(parts) {
      made.feed = openLiveFeed(parts);
      made.dashboard = openDashboard({
        ...parts,
        ...o,
        feed: made.feed,
        routes: ROUTES,
        publicUrl: o.publicUrl ?? 'http://phone.example.com',
        dataDir,
        version: '1.2.3',
      });
      return made.dashboard.pages;
    },
  });
  const { dashboard, feed } = made;
  if (dashboard === undefined || feed === undefined) throw new Error('no dashboard');

  function browser(always: Record<string, string> = {}): Browser {
    const keep = (headers: Headers) => {
      for (const line of headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (value === '') own.cookies.delete(name);
        else own.cookies.set(name, value);
      }
    };
    const own: Browser = {
      cookies: new Map(),
      csrf: null,
      async go(path, from) {
        const cookie = [...own.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        const headers = { 'sec-fetch-site': from, 'sec-fetch-mode': 'navigate', ...always, cookie };
        const answer = await fetch(rig.url + path, { headers, redirect: 'manual' });
        keep(answer.headers);
        return answer;
      },
      async ask(method, path, { body, headers = {} } = {}) {
        const sent: Record<string, string> = { 'sec-fetch-site': 'same-origin', ...always };
        if (own.cookies.size > 0)
          sent.cookie = [...own.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
        if (method !== 'GET' && own.csrf !== null) sent['offhook-csrf'] = own.csrf;
        for (const [name, value] of Object.entries(headers)) {
          if (value === null) delete sent[name];
          else sent[name] = value;
        }
        const answer = await rig.api(method, `/dashboard/api${path}`, {
          key: null,
          headers: sent,
          ...(body === undefined ? {} : { body }),
        });
        keep(answer.headers);
        if (typeof answer.body?.csrf_token === 'string') own.csrf = answer.body.csrf_token;
        return answer;
      },
      setUp: (password = PASSWORD) =>
        own.ask('POST', '/setup', { body: { token: makePasswordLink(dataDir, null), password } }),
      signIn: (password = PASSWORD) => own.ask('POST', '/login', { body: { password } }),
    };
    return own;
  }
  /** Somebody with an e-mail address and PASSWORD, in a browser that is signed in. */
  async function person(fields: Partial<UserRecord> & { email: string }) {
    const user = makeUser(fields.org_id ?? rig.orgId, { password_hash: cheapHash(), ...fields });
    const made = await rig.store.createUser(user);
    if ('conflict' in made) throw new Error(made.conflict);
    const own = browser();
    const answer = await own.ask('POST', '/login', { body: { email: fields.email, password: PASSWORD } });
    if (answer.status !== 200) throw new Error(answer.text);
    return { browser: own, user };
  }
  return { ...rig, dashboard, feed, dataDir, browser, person };
}
