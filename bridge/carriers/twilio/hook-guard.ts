// Whose hooks are looked at: those that Twilio signed, of our own account. Nothing of a hook is read before it may be one,
// and an address by which many come that are not signed is hardly listened to for a while.
import type { IncomingMessage } from 'node:http';
import express from 'express';
import { CallElsewhere, ERROR_STATUS, type ErrorCode } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { StrangerLog } from '../../../stranger-log.ts';
import type { Client } from '../../connection-limits.ts';
import { keepHookBody } from '../hook-body.ts';
import { countUnsignedHooks } from '../unsigned-hooks.ts';
import { HOOK_OVERRIDES } from './hook-url.ts';
import { type FormFields, isTwilioSignature, verifyTwilio } from './signature.ts';

/** A hook has some dozens of fields and one or two KB; what a marketplace's add-on finds out about a caller comes on top. */
const MAX_BODY_BYTES = 32 * 1024;
const MAX_FIELDS = 200;
/** What is still read of an address that was not listened to: the carrier may come by it, as by a proxy that is not known. */
const MAX_DOUBTED_BYTES = 4 * 1024;
/** Of a request that is refused unread, what is read and thrown away to keep its connection. */
const MAX_UNREAD_BYTES = 64 * 1024;
const MAX_LOGGED_PATH = 200;

export interface HookGuardOptions {
  /** Hooks of other accounts, subaccounts included, are refused. */
  accountSid: string;
  authToken: string;
  /** What the carrier reaches, without a slash at the end: signatures are over this and the request's path. */
  publicUrl: string;
  /** Who sends a request. An address by which many come is never kept out for what one of them does. */
  clientOf(request: IncomingMessage): Client;
  log: Log;
  /** Told of hooks that are not the carrier's. */
  strangers: Pick<StrangerLog, 'saw'>;
}

export interface HookGuard {
  /** In this order, before any hook; then `request.body` is a form that Twilio signed. */
  readonly before: readonly express.RequestHandler[];
  /** Behind all hooks: what failed, in reading or in the hook itself. */
  readonly failed: express.ErrorRequestHandler;
}

export function openHookGuard(o: HookGuardOptions): HookGuard {
  const { log } = o;
  const unsigned = countUnsignedHooks();

  /** Refuses what is not the carrier's, and remembers who sent it. */
  function refuseStranger(
    request: express.Request,
    response: express.Response,
    code: ErrorCode,
    message: string,
  ): void {
    const by = o.clientOf(request);
    const { address, shared } = by;
    const now = performance.now();
    /** The path is his to invent, and may be as long as all headers. */
    const told = { level: 'warn', by, fields: { path: request.path.slice(0, MAX_LOGGED_PATH) } } as const;
    if (!shared) {
      const deafFor = unsigned.deafFor(address, now);
      if (deafFor > 0) {
        o.strangers.saw({ ...told, event: 'carrier.hook.refused', why: 'not listened to' });
        response.set('Retry-After', String(Math.ceil(deafFor)));
        refuse(response, 'rate_limited', 'too many hooks that were not signed came from this address');
        return;
      }
      if (unsigned.count(address, now))
        o.strangers.saw({ event: 'carrier.hook.deaf', why: 'too many', level: 'warn', by });
    }
    o.strangers.saw({ ...told, event: 'carrier.hook.refused', why: message });
    refuse(response, code, message);
  }

  const mayBeSigned: express.RequestHandler = (request, response, next) => {
    const length = Number(request.get('content-length') ?? Number.NaN);
    if (!(length <= MAX_UNREAD_BYTES)) response.set('Connection', 'close');
    const { address, shared } = o.clientOf(request);
    const isDoubted = !shared && unsigned.deafFor(address, performance.now()) > 0;
    const signature = request.get('x-twilio-signature');
    if (signature === undefined) refuseStranger(request, response, 'forbidden', 'no signature');
    else if (request.method !== 'POST')
      refuseStranger(request, response, 'method_not_allowed', 'only POST is answered');
    else if (!request.is('application/x-www-form-urlencoded')) {
      const message = 'the body must be application/x-www-form-urlencoded';
      refuseStranger(request, response, 'unsupported_media_type', message);
    } else if (!isTwilioSignature(signature))
      refuseStranger(request, response, 'forbidden', 'the signature does not match');
    else if (isDoubted && !(length <= MAX_DOUBTED_BYTES))
      refuseStranger(request, response, 'body_too_large', `the limit is ${MAX_DOUBTED_BYTES} bytes`);
    else next();
  };

  const isSigned: express.RequestHandler = (request, response, next) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (countFields(body) > MAX_FIELDS)
      return refuseStranger(request, response, 'body_too_large', `the limit is ${MAX_FIELDS} fields`);
    const url = o.publicUrl + request.originalUrl;
    const params = readForm(body);
    request.body = params;
    const signature = request.get('x-twilio-signature');
    if (!verifyTwilio({ authToken: o.authToken, signature, url, fragment: HOOK_OVERRIDES, params }))
      return refuseStranger(request, response, 'forbidden', 'the signature does not match');
    keepHookBody(request, body);
    unsigned.forgive(o.clientOf(request).address);
    if (field(params, 'AccountSid') === o.accountSid) return next();
    log.warn({ path: request.path }, 'carrier.hook.other_account');
    refuse(response, 'forbidden', 'this is of another account');
  };

  const failed: express.ErrorRequestHandler = (error: unknown, request, response, next) => {
    // Whoever serves the hooks may know the way to it.
    if (response.headersSent || error instanceof CallElsewhere) return next(error);
    const status = bodyErrorStatus(error);
    if (status === 413)
      return refuseStranger(request, response, 'body_too_large', `the limit is ${MAX_BODY_BYTES} bytes`);
    if (status === 415)
      return refuseStranger(request, response, 'unsupported_media_type', 'the body cannot be read');
    if (status !== null)
      return refuseStranger(request, response, 'invalid_request', 'the request cannot be read');
    log.error({ err: error, path: request.path }, 'carrier.hook.failed');
    refuse(response, 'internal', 'internal error');
  };

  // Read raw: the signature is over every field as it came, and a parser with ideas about brackets would change some.
  const raw = express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false });
  return { before: [mayBeSigned, raw, isSigned], failed };
}

export function refuse(response: express.Response, code: ErrorCode, message: string): void {
  response.status(ERROR_STATUS[code]).json({ error: { code, message } });
}

const AMPERSAND = 0x26;

/** Fields of a form that is not read yet. */
function countFields(body: Buffer): number {
  let count = 1;
  for (let at = body.indexOf(AMPERSAND); at >= 0; at = body.indexOf(AMPERSAND, at + 1)) count++;
  return count;
}

/** All fields of a form, empty ones too; one that came several times is an array. */
function readForm(body: Buffer): FormFields {
  const form: Record<string, string | string[]> = Object.create(null);
  for (const [name, value] of new URLSearchParams(body.toString('utf8'))) {
    const before = form[name];
    if (before === undefined) form[name] = value;
    else if (typeof before === 'string') form[name] = [before, value];
    else before.push(value);
  }
  return form;
}

/** A form field that is there once and not empty. */
export function field(form: FormFields, name: string): string | null {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

/** The status of an error of the body parser; null for any other error. */
function bodyErrorStatus(error: unknown): number | null {
  if (!(error instanceof Error) || !('type' in error) || !('status' in error)) return null;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}
