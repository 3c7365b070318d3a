// Twilio's hooks: HTTP in, carrier events and TwiML out. Nothing is looked at before the signature holds.
// What an event means, and whether it came before, is the handlers'.
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import express from 'express';
import type { ErrorCode } from '../../../errors.ts';
import { ERROR_STATUS } from '../../../errors.ts';
import type { Log } from '../../../log.ts';
import type { StrangerLog } from '../../../stranger-log.ts';
import type { Client } from '../../connection-limits.ts';
import { callerOf } from '../caller-id.ts';
import type { CarrierEvent, CarrierStatus, HookHandlers, StreamAnswer } from '../carrier.ts';
import { countUnsignedHooks } from '../unsigned-hooks.ts';
import { type FormFields, isTwilioSignature, verifyTwilio } from './signature.ts';
import { carrierStatus } from './status.ts';
import { renderAnswer, renderHangUp } from './twiml.ts';

/** A hook has some dozens of fields and one or two KB; what a marketplace's add-on finds out about a caller comes on top. */
const MAX_BODY_BYTES = 32 * 1024;
const MAX_FIELDS = 200;
/** What is still read of an address that was not listened to: the carrier may come by it, as by a proxy that is not known. */
const MAX_DOUBTED_BYTES = 4 * 1024;
/** Of a request that is refused unread, what is read and thrown away to keep its connection. */
const MAX_UNREAD_BYTES = 64 * 1024;
const MAX_LOGGED_PATH = 200;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

type Verdict = Extract<CarrierEvent, { type: 'machine-detection' }>['verdict'];
const VERDICTS: Record<string, Verdict> = {
  human: 'human',
  machine_start: 'machine',
  machine_end_beep: 'machine_ready',
  machine_end_silence: 'machine_ready',
  machine_end_other: 'machine_ready',
  fax: 'fax',
  unknown: 'unknown',
};

const ENDED: ReadonlySet<CarrierStatus> = new Set(['completed', 'busy', 'no_answer', 'failed', 'canceled']);

export interface TwilioHooksOptions {
  /** Hooks of other accounts, subaccounts included, are refused. */
  accountSid: string;
  authToken: string;
  /** What the carrier reaches, without a slash at the end: signatures are over this and the request's path. */
  publicUrl: string;
  /** Where the router is mounted, e.g. `/carriers/twilio`. */
  hooksPath: string;
  handlers: HookHandlers;
  /** Who sends a request. An address by which many come is never kept out for what one of them does. */
  clientOf(request: IncomingMessage): Client;
  log: Log;
  /** Told of hooks that are not the carrier's. */
  strangers: Pick<StrangerLog, 'saw'>;
}

/** The hooks as a router, to be mounted at `hooksPath`. Answers TwiML, 204, or `{"error":{code,message}}`. */
export function twilioHooks(o: TwilioHooksOptions): express.Router {
  const { handlers, log } = o;
  const router = express.Router({ caseSensitive: true });
  const callUrl = (callId: string, step: string) => `${o.publicUrl}${o.hooksPath}/calls/${callId}/${step}`;

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

  router.use((request, response, next) => {
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
  });
  // Read raw: the signature is over every field as it came, and a parser with ideas about brackets would change some.
  router.use(express.raw({ type: () => true, limit: MAX_BODY_BYTES, inflate: false }));
  router.use((request, response, next) => {
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (countFields(body) > MAX_FIELDS)
      return refuseStranger(request, response, 'body_too_large', `the limit is ${MAX_FIELDS} fields`);
    const url = o.publicUrl + request.originalUrl;
    const params = readForm(body);
    request.body = params;
    const signature = request.get('x-twilio-signature');
    if (!verifyTwilio({ authToken: o.authToken, signature, url, params }))
      return refuseStranger(request, response, 'forbidden', 'the signature does not match');
    unsigned.forgive(o.clientOf(request).address);
    if (field(params, 'AccountSid') === o.accountSid) return next();
    log.warn({ path: request.path }, 'carrier.hook.other_account');
    refuse(response, 'forbidden', 'this is of another account');
  });

  /** Runs a hook that needs the carrier's call id, and a call id in the path where it has one. */
  const hook =
    (run: (hook: Hook) => Promise<string | null>) =>
    async (request: express.Request, response: express.Response) => {
      const form = request.body as FormFields;
      const carrierCallId = field(form, 'CallSid');
      const callId = request.params.callId;
      if (carrierCallId === null || !/^[A-Za-z0-9]{1,64}$/.test(carrierCallId))
        return refuse(response, 'invalid_request', 'no CallSid');
      if (callId !== undefined && !(typeof callId === 'string' && UUID.test(callId)))
        return refuse(response, 'not_found', 'no such call');
      const at = hookTime(field(form, 'Timestamp'));
      const twiml = await run({ form, carrierCallId, callId: callId ?? '', at });
      if (twiml === null) response.status(204).end();
      else response.status(200).type('text/xml').send(twiml);
    };

  const stream = (answer: StreamAnswer, callId: string | null) =>
    renderAnswer(
      answer,
      callId === null
        ? {}
        : { afterUrl: callUrl(callId, 'after'), streamStatusUrl: callUrl(callId, 'stream') },
    );

  router.post(
    '/voice',
    hook(async ({ form, carrierCallId }) => {
      const answer = await handlers.inbound({
        carrierCallId,
        to: field(form, 'To') ?? '',
        from: callerOf(field(form, 'From')),
      });
      // The call got its id while it was answered: it is among the stream's parameters.
      const callId = answer.answer === 'stream' ? answer.parameters.callId : undefined;
      return stream(answer, callId !== undefined && UUID.test(callId) ? callId : null);
    }),
  );

  async function status({ form, carrierCallId, at }: Hook, callId: string | null): Promise<null> {
    const said = field(form, 'CallStatus') ?? '';
    const known = carrierStatus(said);
    if (known === null) {
      log.warn({ callId, carrierCallId, status: said.slice(0, 40) }, 'carrier.hook.unknown_status');
      return null;
    }
    const sip = field(form, 'SipResponseCode');
    // Callbacks are numbered as they were fired: initiated 0, ringing 1. An end with 2 has a ringing before it.
    const order = wholeNumber(field(form, 'SequenceNumber')) ?? 0;
    await handlers.event({
      type: 'status',
      callId,
      carrierCallId,
      status: known,
      at,
      durationSeconds: wholeNumber(field(form, 'CallDuration')),
      cause: sip === null ? null : `SIP ${sip}`,
      errorCode: field(form, 'ErrorCode'),
      errorMessage: field(form, 'ErrorMessage'),
      ...(callId !== null && order >= 2 ? { rang: true } : {}),
    });
    return null;
  }
  router.post(
    '/status',
    hook((of) => status(of, null)),
  );
  router.post(
    '/calls/:callId/status',
    hook((of) => status(of, of.callId)),
  );

  router.post(
    '/calls/:callId/answer',
    hook(async ({ callId, carrierCallId }) => stream(await handlers.answered(callId, carrierCallId), callId)),
  );
  router.post(
    '/calls/:callId/after',
    hook(async ({ form, callId, carrierCallId }) => {
      // Also asked when the other side has hung up: then the status callback tells of the end.
      const status = carrierStatus(field(form, 'CallStatus') ?? '');
      if (status !== null && ENDED.has(status)) return renderHangUp();
      return stream(await handlers.afterStream(callId, carrierCallId), callId);
    }),
  );
  router.post(
    '/calls/:callId/transfer-result',
    hook(async ({ form, callId, carrierCallId }) => {
      const result = field(form, 'DialCallStatus');
      // The two have talked: nothing is left to do. Otherwise the caller is still there.
      if (result === 'completed' || result === 'answered') return renderHangUp();
      return stream(await handlers.afterStream(callId, carrierCallId, result ?? 'failed'), callId);
    }),
  );
  router.post(
    '/calls/:callId/machine',
    hook(async ({ form, callId, carrierCallId, at }) => {
      const raw = field(form, 'AnsweredBy') ?? '';
      const verdict = Object.hasOwn(VERDICTS, raw) ? VERDICTS[raw]! : 'unknown';
      await handlers.event({
        type: 'machine-detection',
        callId,
        carrierCallId,
        verdict,
        raw: raw.slice(0, 40),
        at,
      });
      return null;
    }),
  );
  router.post(
    '/calls/:callId/stream',
    hook(async ({ form, callId, carrierCallId, at }) => {
      if (field(form, 'StreamEvent') === 'stream-error') {
        const error = field(form, 'StreamError') ?? 'unknown';
        await handlers.event({
          type: 'stream-failed',
          callId,
          carrierCallId,
          error: error.slice(0, 200),
          at,
        });
      }
      return null;
    }),
  );

  router.use((_request, response) => refuse(response, 'not_found', 'no such hook'));
  router.use(
    (error: unknown, request: express.Request, response: express.Response, next: express.NextFunction) => {
      if (response.headersSent) return next(error);
      const status = bodyErrorStatus(error);
      if (status === 413)
        return refuseStranger(request, response, 'body_too_large', `the limit is ${MAX_BODY_BYTES} bytes`);
      if (status === 415)
        return refuseStranger(request, response, 'unsupported_media_type', 'the body cannot be read');
      if (status !== null)
        return refuseStranger(request, response, 'invalid_request', 'the request cannot be read');
      log.error({ err: error, path: request.path }, 'carrier.hook.failed');
      refuse(response, 'internal', 'internal error');
    },
  );
  return router;
}

/**
 * Whether the upgrade of a media socket is Twilio's. `url` is the stream's ws:// or wss:// URL, to the letter as it
 * was in the TwiML.
 */
export function verifyTwilioUpgrade(o: {
  headers: IncomingHttpHeaders;
  url: string;
  authToken: string;
}): boolean {
  const signature = o.headers['x-twilio-signature'];
  if (typeof signature !== 'string') return false;
  return verifyTwilio({ authToken: o.authToken, signature, url: o.url, params: {} });
}

interface Hook {
  form: FormFields;
  carrierCallId: string;
  /** Empty where the path has none. */
  callId: string;
  at: string;
}

function refuse(response: express.Response, code: ErrorCode, message: string): void {
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
function field(form: FormFields, name: string): string | null {
  const value = Object.hasOwn(form, name) ? form[name] : undefined;
  return typeof value === 'string' && value !== '' ? value : null;
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Hooks carry RFC 2822 or ISO times, some none. */
function hookTime(text: string | null): string {
  const time = text === null ? Number.NaN : Date.parse(text);
  return new Date(Number.isNaN(time) ? Date.now() : time).toISOString();
}

/** The status of an error of the body parser; null for any other error. */
function bodyErrorStatus(error: unknown): number | null {
  if (!(error instanceof Error) || !('type' in error) || !('status' in error)) return null;
  const { status } = error;
  return typeof status === 'number' && status >= 400 && status < 500 ? status : null;
}
