// Twilio's hooks: HTTP in, carrier events out. What the daemon commands of a call while its hook waits is the hook's answer,
// as a document. What an event means, and whether it came before, is not known here.
import express from 'express';
import type { Log } from '../../../log.ts';
import { callerOf } from '../caller-id.ts';
import type { CarrierEvent, CarrierStatus, TellEvent } from '../carrier.ts';
import { field, type HookGuard, refuse } from './hook-guard.ts';
import type { FormFields } from './signature.ts';
import { carrierStatus } from './status.ts';
import { renderHangUp } from './twiml.ts';
import type { WaitingHooks } from './waiting-hooks.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const MAX_WORD = 40;
const MAX_ERROR = 200;

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

/** How a call that was to be handed over came to nothing, by `DialCallStatus`; every other word is a failure. */
const TRANSFER_FAILURES: Record<string, Extract<CarrierEvent, { type: 'transfer-failed' }>['why']> = {
  busy: 'busy',
  'no-answer': 'no_answer',
};

interface Hook {
  form: FormFields;
  carrierCallId: string;
  /** Empty where the path has none. */
  callId: string;
  at: string;
}

/** Does what a hook is for; answers the document that Twilio wants, null where it wants none. */
type Step = (hook: Hook, tell: TellEvent) => Promise<string | null>;

export interface TwilioHooksOptions {
  guard: HookGuard;
  waiting: WaitingHooks;
  /** Who hears of what happens; null while nobody does. */
  listener(): TellEvent | null;
  log: Log;
}

/** The hooks as a router. Answers TwiML, 204, or `{"error":{code,message}}`. */
export function twilioHooks(o: TwilioHooksOptions): express.Router {
  const router = express.Router({ caseSensitive: true });
  router.use(...o.guard.before);

  /** A hook has the carrier's call id, and a call id in the path where it has one. */
  const hook = (path: string, step: Step) =>
    router.post(path, async (request, response) => {
      const tell = o.listener();
      if (tell === null) return refuse(response, 'draining', 'not open');
      const form = request.body as FormFields;
      const carrierCallId = field(form, 'CallSid');
      const callId: unknown = request.params.callId ?? '';
      if (carrierCallId === null || !/^[A-Za-z0-9]{1,64}$/.test(carrierCallId))
        return refuse(response, 'invalid_request', 'no CallSid');
      if (typeof callId !== 'string' || (callId !== '' && !UUID.test(callId)))
        return refuse(response, 'not_found', 'no such call');
      const at = hookTime(field(form, 'Timestamp'));
      const twiml = await step({ form, carrierCallId, callId, at }, tell);
      if (twiml === null) response.status(204).end();
      else response.status(200).type('text/xml').send(twiml);
    });

  /** Tells of a call that waits; its document is what is commanded meanwhile, else the end. */
  const commanded = async (event: CarrierEvent, tell: TellEvent) =>
    (await o.waiting.during(event.carrierCallId, () => tell(event))) ?? renderHangUp();

  const status: Step = async (told, tell) => {
    const event = statusEvent(told);
    if (event !== null) await tell(event);
    else {
      const said = field(told.form, 'CallStatus')?.slice(0, MAX_WORD) ?? '';
      const { callId, carrierCallId } = told;
      o.log.warn({ callId: callId || null, carrierCallId, status: said }, 'carrier.hook.unknown_status');
    }
    return null;
  };

  hook('/voice', ({ form, carrierCallId }, tell) => {
    const to = field(form, 'To') ?? '';
    return commanded({ type: 'call-offered', carrierCallId, to, from: callerOf(field(form, 'From')) }, tell);
  });
  hook('/status', status);
  hook('/calls/:callId/status', status);
  hook('/calls/:callId/answer', ({ callId, carrierCallId }, tell) =>
    commanded({ type: 'stream-wanted', callId, carrierCallId }, tell),
  );
  hook('/calls/:callId/after', async ({ form, callId, carrierCallId }, tell) => {
    // Also asked when the other side has hung up: then the status callback tells of the end.
    const status = carrierStatus(field(form, 'CallStatus') ?? '');
    if (status !== null && ENDED.has(status)) return renderHangUp();
    return commanded({ type: 'stream-over', callId, carrierCallId }, tell);
  });
  hook('/calls/:callId/transfer-result', async ({ form, callId, carrierCallId }, tell) => {
    const result = field(form, 'DialCallStatus') ?? '';
    // The two have talked: nothing is left to do. Otherwise the caller is still there.
    if (result === 'completed' || result === 'answered') return renderHangUp();
    const why = Object.hasOwn(TRANSFER_FAILURES, result) ? TRANSFER_FAILURES[result]! : 'failed';
    return commanded({ type: 'transfer-failed', callId, carrierCallId, why }, tell);
  });
  hook('/calls/:callId/machine', async ({ form, callId, carrierCallId, at }, tell) => {
    const raw = field(form, 'AnsweredBy') ?? '';
    const verdict = Object.hasOwn(VERDICTS, raw) ? VERDICTS[raw]! : 'unknown';
    await tell({
      type: 'machine-detection',
      callId,
      carrierCallId,
      verdict,
      raw: raw.slice(0, MAX_WORD),
      at,
    });
    return null;
  });
  hook('/calls/:callId/stream', async ({ form, callId, carrierCallId, at }, tell) => {
    if (field(form, 'StreamEvent') === 'stream-error') {
      const error = (field(form, 'StreamError') ?? 'unknown').slice(0, MAX_ERROR);
      await tell({ type: 'stream-failed', callId, carrierCallId, error, at });
    }
    return null;
  });

  router.use((_request, response) => refuse(response, 'not_found', 'no such hook'));
  router.use(o.guard.failed);
  return router;
}

/** Null for a status that is not known. */
function statusEvent({ form, carrierCallId, callId, at }: Hook): CarrierEvent | null {
  const status = carrierStatus(field(form, 'CallStatus') ?? '');
  if (status === null) return null;
  const sip = field(form, 'SipResponseCode');
  // Callbacks are numbered as they were fired: initiated 0, ringing 1. An end with 2 has a ringing before it.
  const order = wholeNumber(field(form, 'SequenceNumber')) ?? 0;
  return {
    type: 'status',
    callId: callId === '' ? null : callId,
    carrierCallId,
    status,
    at,
    durationSeconds: wholeNumber(field(form, 'CallDuration')),
    cause: sip === null ? null : `SIP ${sip}`,
    errorCode: field(form, 'ErrorCode'),
    errorMessage: field(form, 'ErrorMessage'),
    ...(callId !== '' && order >= 2 ? { rang: true } : {}),
  };
}

function wholeNumber(text: string | null): number | null {
  return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/** Hooks carry RFC 2822 or ISO times, some none. */
function hookTime(text: string | null): string {
  const time = text === null ? Number.NaN : Date.parse(text);
  return new Date(Number.isNaN(time) ? Date.now() : time).toISOString();
}
