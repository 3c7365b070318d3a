// Who is signed in, and requests in their name: the session API itself, and the fetch that the SDK is given.
import { signal } from '@preact/signals';
import { whenSignedOut } from './ui/load.ts';

const BASE = '/dashboard/api';

export type Permission = 'read' | 'listen' | 'operate' | 'admin';

export interface Session {
  state: 'setup' | 'signed_out' | 'signed_in';
  csrf_token?: string;
  organization?: { id: string; name: string };
  /** Who is signed in, and what the daemon lets him do. */
  user?: { id: string; name: string; email: string | null; role: string; may: Permission[] };
  /** Before one is signed in: whether anybody has an e-mail address to sign in with. */
  by_email?: boolean;
  /** And whether another service signs people in: its host. */
  oidc?: string | null;
  /** Before one is signed in: whether the organization has to be named. */
  several?: boolean;
  version: string;
}

/** Undefined until it was asked for. */
export const session = signal<Session | undefined>(undefined);
/** The session ended while the page was open: the sign-in page says so. */
export const endedHere = signal(false);

/** What the session API refused: the same fields as the SDK's errors. */
export class SessionError extends Error {
  override name = 'SessionError';
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly requestId: string | undefined;

  constructor(
    status: number,
    body: { code?: string; message?: string; param?: string; request_id?: string },
    cause?: unknown,
  ) {
    super(body.message ?? `The daemon answered ${status}.`, { cause });
    this.status = status;
    this.code = body.code ?? 'error';
    this.param = body.param;
    this.requestId = body.request_id;
  }
}

/** fetch with the session's cookie and, for what changes something, its CSRF token. */
export const sessionFetch: typeof fetch = (input, init) => {
  const headers = new Headers(init?.headers);
  const token = session.peek()?.csrf_token;
  if (token !== undefined && (init?.method ?? 'GET').toUpperCase() !== 'GET')
    headers.set('Offhook-CSRF', token);
  return fetch(input, { ...init, headers, credentials: 'same-origin', redirect: 'error' });
};

/** One request of the session API, `path` without its prefix. @throws SessionError, or with status 0 when nothing answers */
export async function ask<T>(
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  signal?: AbortSignal,
): Promise<T> {
  const response = await sessionFetch(`${BASE}/${path}`, {
    method,
    ...(signal === undefined ? {} : { signal }),
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    throw new SessionError(0, { code: 'unreachable', message: 'The daemon could not be reached.' }, error);
  });
  const text = await response.text();
  let answer: unknown;
  try {
    answer = text === '' ? undefined : JSON.parse(text);
  } catch {
    throw new SessionError(response.ok ? 502 : response.status, {
      code: 'unreachable',
      message: `Something between this page and the daemon answered ${response.status} with what is not JSON.`,
    });
  }
  if (!response.ok)
    throw new SessionError(response.status, (answer as { error?: object } | undefined)?.error ?? {});
  return answer as T;
}

/** Asks who is signed in. */
export async function loadSession(): Promise<void> {
  session.value = await ask<Session>('GET', 'session');
}

/** Whether who is signed in may do that. What is left out by it would be refused by the daemon. */
export const may = (permission: Permission): boolean =>
  session.value?.user?.may.includes(permission) !== false;

/** Fields that are empty are not asked for. `organization`: its name or id; without it, the first one of the daemon. */
export async function logIn(o: {
  password: string;
  email?: string;
  organization?: string;
  code?: string;
}): Promise<void> {
  const given = Object.entries(o).filter(([name, value]) => name === 'password' || value.trim() !== '');
  await ask('POST', 'login', Object.fromEntries(given));
  await loadSession();
  endedHere.value = false;
}

export interface Invitation {
  /** `password`: a new one for who has an account. */
  kind: 'invitation' | 'password';
  organization: string;
  email: string | null;
  role: string;
  name: string | null;
  invited_by: string;
}

/** What a link of an invitation is for. */
export const lookAtInvitation = (token: string) => ask<Invitation>('POST', 'invitation/look', { token });

/** Uses it; signed in afterwards, unless a second factor is wanted. */
export async function acceptInvitation(o: { token: string; name?: string; password: string }): Promise<void> {
  await ask('POST', 'invitation', o);
  await loadSession();
}

export async function setUp(token: string, password: string): Promise<void> {
  await ask('POST', 'setup', { token, password });
  await loadSession();
}

export async function logOut(): Promise<void> {
  await ask('POST', 'logout');
  endedHere.value = false;
  await loadSession();
}

/** The session is over though nobody signed out here: another tab did, it grew old, or the password was changed. */
export function sessionEnded(): void {
  const now = session.peek();
  if (now?.state !== 'signed_in') return;
  endedHere.value = true;
  const by_email = now.user?.email !== null;
  session.value = { state: 'signed_out', version: now.version, several: now.several === true, by_email };
}

whenSignedOut(sessionEnded);
