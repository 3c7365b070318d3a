// Sign-in by OpenID Connect, where the operator has named an issuer: code flow with PKCE, state and nonce. What a browser has to
// bring back is in a cookie that only this daemon can read, so that strangers fill no memory.
//
//   start: own page ─► cookie ─► issuer …  callback: cookie, once ─► code for tokens ─► claims ─► a user, or nobody ─► session
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Request, RequestHandler, Response } from 'express';
import type { Configuration } from 'openid-client';
import type { Config } from '../../config.ts';
import { AppError } from '../../errors.ts';
import type { Log } from '../../log.ts';
import type { Store } from '../../storage/store.ts';
import { noteAction } from '../http/audit.ts';
import { arrivalOf } from '../http/request-arrival.ts';
import { contextOf } from '../http/request-context.ts';
import { isSecure, readCookie } from '../http/request-origin.ts';
import { type Claims, findOidcUser } from './oidc-user.ts';
import type { SignIn } from './sign-in.ts';

const CALLBACK = '/dashboard/api/oidc/callback';
/** How long somebody may take at the issuer. */
const LONGEST_MS = 10 * 60_000;
/** How long what the issuer says of itself is used. */
const DISCOVERED_MS = 3_600_000;
/** And how soon it is asked again where it did not answer. */
const AGAIN_MS = 10_000;
const TIMEOUT_SECONDS = 10;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** What stands in the cookie, sealed. */
interface Pending {
  id: string;
  state: string;
  nonce: string;
  verifier: string;
  to: string;
  expiresAt: number;
}

export interface Oidc {
  /** The host of the issuer, for the button. */
  name: string;
  /** For our own page. */
  start: RequestHandler;
  /** For the issuer's redirect, which comes from another site. */
  callback: RequestHandler;
  /** The path that it comes to. */
  callbackPath: string;
}

export interface OidcOptions {
  config: Pick<
    Config,
    'OIDC_ISSUER' | 'OIDC_CLIENT_ID' | 'OIDC_CLIENT_SECRET' | 'OIDC_ALLOWED_DOMAINS' | 'OIDC_NEW_USERS'
  >;
  store: Pick<
    Store,
    | 'findUsersBySubject'
    | 'findUsersByEmail'
    | 'findInvitationsByEmail'
    | 'createUser'
    | 'saveUser'
    | 'firstOrganization'
    | 'noteAction'
  >;
  signIn: SignIn;
  publicUrl: string;
  log: Pick<Log, 'info' | 'warn'>;
  now: () => Date;
}

/** Where to go afterwards: a path of this dashboard, whatever was asked for. */
export function safePath(text: unknown): string {
  return typeof text === 'string' && text.length <= 500 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(text)
    ? text
    : '/';
}

/** Loaded where it is wanted: most daemons have no issuer. */
const library = () => import('openid-client');

const isLoopback = ({ hostname }: URL) => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** Seals with a key of this run: what another began is begun anew. */
function openBox() {
  const key = randomBytes(32);
  return {
    seal(pending: Pending): string {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv('aes-256-gcm', key, nonce);
      const parts = [
        nonce,
        cipher.update(JSON.stringify(pending), 'utf8'),
        cipher.final(),
        cipher.getAuthTag(),
      ];
      return Buffer.concat(parts).toString('base64url');
    },
    open(text: string): Pending | null {
      const bytes = Buffer.from(text, 'base64url');
      if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null;
      const end = bytes.length - TAG_BYTES;
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES));
      decipher.setAuthTag(bytes.subarray(end));
      try {
        const plain =
          decipher.update(bytes.subarray(NONCE_BYTES, end), undefined, 'utf8') + decipher.final('utf8');
        return JSON.parse(plain) as Pending;
      } catch {
        return null;
      }
    },
  };
}

/** Null where no issuer is set. */
export function openOidc(o: OidcOptions): Oidc | null {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: secret } = o.config;
  if (issuer === null || clientId === null) return null;
  const server = new URL(issuer);
  const redirectUri = `${o.publicUrl}${CALLBACK}`;
  const box = openBox();
  /** Those that have come back, until they would have ended anyway. */
  const served = new Map<string, number>();
  let discovered: { at: number; found: Promise<Configuration> } | null = null;

  /** What the issuer says of itself. @throws whatever keeps it from saying so */
  function discover(): Promise<Configuration> {
    const nowMs = o.now().getTime();
    if (discovered !== null && Math.abs(nowMs - discovered.at) < DISCOVERED_MS) return discovered.found;
    const found = library().then((client) =>
      client.discovery(
        server,
        clientId ?? '',
        undefined,
        secret === null ? client.None() : client.ClientSecretPost(secret),
        {
          timeout: TIMEOUT_SECONDS,
          // Signatures are verified too, though the tokens come over TLS from the issuer itself.
          execute: [
            client.enableNonRepudiationChecks,
            ...(isLoopback(server) ? [client.allowInsecureRequests] : []),
          ],
        },
      ),
    );
    const one = { at: nowMs, found };
    discovered = one;
    found.catch(() => {
      one.at = nowMs - DISCOVERED_MS + AGAIN_MS;
    });
    return found;
  }

  const cookieName = (secure: boolean) => (secure ? '__Host-offhook_oidc' : 'offhook_oidc');
  function setCookie(req: Request, res: Response, value: string, maxAge: number): void {
    const secure = isSecure(arrivalOf(req), o.publicUrl);
    // Lax: the issuer's redirect comes from another site.
    res.append(
      'Set-Cookie',
      `${cookieName(secure)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure ? '; Secure' : ''}`,
    );
  }

  const start: RequestHandler = async (req, res) => {
    const configuration = await discover().catch((error: unknown) => {
      o.log.warn({ err: error, issuer: server.host }, 'dashboard.oidc_unreachable');
      return null;
    });
    if (configuration === null) return res.redirect(303, '/login?oidc=unreachable');
    const client = await library();
    const pending: Pending = {
      id: randomBytes(16).toString('base64url'),
      state: client.randomState(),
      nonce: client.randomNonce(),
      verifier: client.randomPKCECodeVerifier(),
      to: safePath(req.query.to),
      expiresAt: o.now().getTime() + LONGEST_MS,
    };
    setCookie(req, res, box.seal(pending), LONGEST_MS / 1000);
    const url = client.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: 'openid email profile',
      state: pending.state,
      nonce: pending.nonce,
      code_challenge: await client.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: 'S256',
    });
    res.redirect(303, url.href);
  };

  /** What this browser began, once; null: nothing, or too long ago. */
  function take(req: Request, res: Response): Pending | null {
    const arrival = arrivalOf(req);
    const value = readCookie(arrival, cookieName(isSecure(arrival, o.publicUrl)));
    setCookie(req, res, '', 0);
    const pending = value === null ? null : box.open(value);
    const nowMs = o.now().getTime();
    for (const [id, expiresAt] of served) if (expiresAt <= nowMs) served.delete(id);
    if (pending === null || pending.expiresAt <= nowMs || served.has(pending.id)) return null;
    served.set(pending.id, pending.expiresAt);
    return pending;
  }

  /** The code for tokens, and what these say; everything is checked by the library: issuer, audience, signature, state, nonce. */
  async function claimsOf(req: Request, pending: Pending): Promise<Claims> {
    const [client, configuration] = await Promise.all([library(), discover()]);
    const current = new URL(redirectUri);
    current.search = new URL(req.originalUrl, 'http://relative.invalid').search;
    const tokens = await client.authorizationCodeGrant(configuration, current, {
      pkceCodeVerifier: pending.verifier,
      expectedState: pending.state,
      expectedNonce: pending.nonce,
      idTokenExpected: true,
    });
    const claims = tokens.claims();
    if (claims === undefined) throw new Error('no ID token');
    // Some say it there alone.
    const more =
      claims.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
        ? await client.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : claims;
    return {
      issuer: claims.iss,
      subject: claims.sub,
      email: typeof more.email === 'string' ? more.email : null,
      emailVerified: more.email_verified === true,
      name: typeof more.name === 'string' ? more.name : null,
    };
  }

  const callback: RequestHandler = async (req, res) => {
    contextOf(res).route = CALLBACK;
    if (req.method !== 'GET') throw new AppError('method_not_allowed', 'Use GET here.');
    const pending = take(req, res);
    if (pending === null) return res.redirect(303, '/login?oidc=expired');
    const triers = o.signIn.triersOf(req, null, null);
    await o.signIn.count(req, triers);
    let claims: Claims;
    try {
      claims = await claimsOf(req, pending);
    } catch (error) {
      // Never the address: it holds the code.
      const code = (error as { code?: unknown }).code;
      o.signIn.tellOf(req, 'dashboard.oidc_failed', String(code ?? 'failed'), { issuer: server.host });
      return res.redirect(303, '/login?oidc=failed');
    }
    const found = await findOidcUser(o, claims);
    if (found.user === null) {
      o.signIn.tellOf(req, 'dashboard.oidc_refused', found.why, { issuer: server.host });
      return res.redirect(303, '/login?oidc=refused');
    }
    const { user } = found;
    o.signIn.succeeded(triers);
    const address = o.signIn.addressOf(req);
    o.log.info({ org_id: user.org_id, user_id: user.id, address }, 'dashboard.signed_in');
    await noteAction(o, {
      orgId: user.org_id,
      actor: { kind: 'user', id: user.id, name: user.name },
      action: 'signIn',
      target: { kind: 'user', id: user.id },
      detail: { by: server.host, first: found.how !== 'known' },
      address,
      requestId: contextOf(res).requestId,
    });
    await o.signIn.begin(req, res, user, 'oidc');
    res.redirect(303, pending.to);
  };

  return { name: server.host, start, callback, callbackPath: CALLBACK };
}
