// Calls over REST: create, fetch, list, update. Validation and shapes as the carrier has them; the life of a call is in
// call.ts. https://www.twilio.com/docs/voice/api/call-resource
import express, { type Router } from 'express';
import type { AmdParameters } from './amd.ts';
import type { Call, Exchange } from './call.ts';
import { type CallSettings, NO_SETTINGS, type ProgressEvent } from './call-settings.ts';
import { all, type Form, formOf, hookUrl, isE164, method, rfc2822, text, whole } from './form.ts';
import { formatted } from './numbers.ts';
import type { Answer } from './rest-answer.ts';
import { notFound, RestError } from './rest-errors.ts';
import { pageOf } from './rest-page.ts';
import type { World } from './world.ts';

const EVENTS: ProgressEvent[] = ['initiated', 'ringing', 'answered', 'completed'];
const MOST_TWIML_CHARACTERS = 4000;
/** UNVERIFIED: the carrier's code for a parameter that is too long or out of range and has no code of its own. */
const INVALID_PARAMETER = 20001;

export function callRoutes(world: Exchange, answer: Answer): Router {
  const router = express.Router();
  let nextSlot = 0;

  /** The queue of `callsPerSecond`: how long this call waits. */
  const queueMs = () => {
    const { callsPerSecond } = world.options;
    if (callsPerSecond === null) return 0;
    const now = performance.now();
    const slot = Math.max(now, nextSlot);
    nextSlot = slot + 1000 / callsPerSecond;
    return Math.round(slot - now);
  };

  router.post('/Calls.json', async (request, response) => {
    const form = formOf(request.body);
    const { to, from } = parties(world, form);
    const settings = settingsOf(form);
    const callee = world.calleeOf(to);
    const call = world.newCall({ direction: 'outbound-api', to, from, callee, settings });
    try {
      await call.prepare();
    } catch (error) {
      world.calls.delete(call.sid);
      throw new RestError(20500, `The callee's script cannot be run: ${String(error)}`, 500);
    }
    call.dial(queueMs());
    answer(response, 201, resourceOf(world, call));
  });

  router.get('/Calls.json', (request, response) => {
    const query = formOf(request.query);
    const found = [...world.calls.values()].reverse().filter((call) => fits(call, query));
    const uri = `/2010-04-01/Accounts/${world.options.accountSid}/Calls.json`;
    const { items, envelope } = pageOf(found, query, uri);
    answer(response, 200, { ...envelope, calls: items.map((call) => resourceOf(world, call)) });
  });

  router.get('/Calls/:sid.json', (request, response) => {
    answer(response, 200, resourceOf(world, find(world, request.params.sid)));
  });

  router.post('/Calls/:sid.json', (request, response) => {
    const call = find(world, request.params.sid);
    const form = formOf(request.body);
    const status = text(form, 'Status');
    const asked = {
      atMs: call.nowMs(),
      asked: status === '' ? (text(form, 'Url') === '' ? 'Twiml' : 'Url') : `Status=${status}`,
      code: null as number | null,
      host: request.hostname,
    };
    call.updates.push(asked);
    try {
      update(call, form);
    } catch (error) {
      if (error instanceof RestError) asked.code = error.code;
      throw error;
    }
    answer(response, 200, resourceOf(world, call));
  });

  router.delete('/Calls/:sid.json', (request, response) => {
    const call = find(world, request.params.sid);
    if (!call.isEnded) throw new RestError(20409, 'The call is still in progress', 409);
    world.calls.delete(call.sid);
    answer(response, 204, null);
  });
  return router;
}

function find(world: Exchange, sid: string): Call {
  const call = world.calls.get(sid);
  if (!call) throw notFound(`/2010-04-01/Accounts/${world.options.accountSid}/Calls/${sid}.json`);
  return call;
}

function parties(world: World, form: Form): { to: string; from: string } {
  const to = text(form, 'To');
  const from = text(form, 'From');
  const { options, numbers } = world;
  if (!to) throw new RestError(21201, "No 'To' number is specified");
  if (!from) throw new RestError(21213, "No 'From' number is specified");
  if (!isE164(to))
    throw new RestError(21211, `The phone number you are attempting to call, ${to}, is not valid.`);
  if (!isE164(from)) throw new RestError(21212, `The source phone number provided, ${from}, is not valid.`);
  if (!numbers.byNumber(from) && !options.verifiedCallerIds.includes(from)) {
    throw new RestError(
      21210,
      `The source phone number provided, ${from}, is not yet verified for your account. You may only make calls from ` +
        "phone numbers that you've verified or purchased from Twilio.",
    );
  }
  if (options.trial && !options.verifiedNumbers.includes(to)) {
    throw new RestError(
      21219,
      `The number ${to} is unverified. Trial accounts may only make calls to verified numbers.`,
    );
  }
  if (options.geoBlockedPrefixes.some((prefix) => to.startsWith(prefix))) {
    throw new RestError(
      21215,
      `Account not authorized to call ${to}. Perhaps you need to enable some geo permissions.`,
    );
  }
  if (options.blockedPrefixes.some((prefix) => to.startsWith(prefix))) {
    throw new RestError(21216, `Account not allowed to call ${to}`);
  }
  return { to, from };
}

function settingsOf(form: Form): CallSettings {
  const url = hookUrl(form, 'Url', 21205);
  const twiml = text(form, 'Twiml');
  if (!url && !twiml) throw new RestError(21205, 'Url parameter is required.');
  if (twiml.length > MOST_TWIML_CHARACTERS) {
    throw new RestError(INVALID_PARAMETER, `Twiml must be at most ${MOST_TWIML_CHARACTERS} characters`);
  }
  const callback = callbackOf(form);
  return {
    ...NO_SETTINGS,
    url,
    method: method(form, 'Method'),
    // Both given: Twiml is ignored.
    twiml: url ? '' : twiml,
    fallbackUrl: hookUrl(form, 'FallbackUrl', 21205),
    fallbackMethod: method(form, 'FallbackMethod'),
    ...callback,
    ringSeconds: whole(form, 'Timeout', { min: 1, max: 600, default: 60, code: 21208 }),
    limitSeconds: whole(form, 'TimeLimit', { min: 1, max: 86_400, default: 14_400, code: INVALID_PARAMETER }),
    amd: amdOf(form),
    asyncAmd: text(form, 'AsyncAmd') === 'true',
    amdCallback: hookUrl(form, 'AsyncAmdStatusCallback', 21609),
    amdCallbackMethod: method(form, 'AsyncAmdStatusCallbackMethod'),
    sendDigits: digitsOf(form),
  };
}

function callbackOf(
  form: Form,
): Pick<CallSettings, 'statusCallback' | 'statusCallbackMethod' | 'statusCallbackEvents'> {
  const named = all(form, 'StatusCallbackEvent');
  const events = EVENTS.filter((event) => named.includes(event));
  if (events.length !== new Set(named).size) {
    throw new RestError(21626, `Invalid StatusCallbackEvent: ${named.join(', ')}`);
  }
  return {
    statusCallback: hookUrl(form, 'StatusCallback', 21609),
    statusCallbackMethod: method(form, 'StatusCallbackMethod'),
    // `completed` stands for every way a call can end.
    statusCallbackEvents: named.length > 0 ? events : ['completed'],
  };
}

function amdOf(form: Form): AmdParameters | null {
  const mode = text(form, 'MachineDetection');
  if (mode === '' || mode === 'None') return null;
  if (mode !== 'Enable' && mode !== 'DetectMessageEnd') {
    throw new RestError(INVALID_PARAMETER, `Invalid MachineDetection: ${mode}`);
  }
  const number = (key: string, min: number, max: number, fallback: number) =>
    whole(form, `MachineDetection${key}`, { min, max, default: fallback, code: INVALID_PARAMETER });
  return {
    mode,
    timeoutMs: number('Timeout', 3, 59, 30) * 1000,
    speechThresholdMs: number('SpeechThreshold', 1000, 6000, 2400),
    speechEndThresholdMs: number('SpeechEndThreshold', 500, 5000, 1200),
    silenceTimeoutMs: number('SilenceTimeout', 2000, 10_000, 5000),
  };
}

function digitsOf(form: Form): string {
  const digits = text(form, 'SendDigits');
  if (!/^[0-9*#A-DwW]{0,32}$/.test(digits))
    throw new RestError(INVALID_PARAMETER, `Invalid SendDigits: ${digits}`);
  return digits;
}

function update(call: Call, form: Form): void {
  const status = text(form, 'Status');
  const url = hookUrl(form, 'Url', 21205);
  const twiml = text(form, 'Twiml');
  if (status && status !== 'completed' && status !== 'canceled') {
    throw new RestError(INVALID_PARAMETER, `Invalid Status: ${status}`);
  }
  if (twiml.length > MOST_TWIML_CHARACTERS) {
    throw new RestError(INVALID_PARAMETER, `Twiml must be at most ${MOST_TWIML_CHARACTERS} characters`);
  }
  if (call.isEnded) throw new RestError(21220, 'Call is not in-progress. Cannot redirect.');
  const answered = call.answeredAt !== null;
  if (status === 'canceled' && answered) {
    throw new RestError(21220, 'Call is in-progress. Cannot cancel.');
  }
  if (status) {
    // UNVERIFIED: `completed` before the answer is shown as canceled.
    const ending = answered
      ? { status: 'completed' as const, why: 'Status=completed' }
      : { status: 'canceled' as const, why: `Status=${status}`, sip: 487 };
    call.end({ ...ending, by: 'application' });
    return;
  }
  if ((url || twiml) && !answered) throw new RestError(21220, 'Call is not in-progress. Cannot redirect.');
  if (text(form, 'StatusCallback')) Object.assign(call.settings, callbackOf(form));
  const fallbackUrl = hookUrl(form, 'FallbackUrl', 21205);
  if (fallbackUrl)
    Object.assign(call.settings, { fallbackUrl, fallbackMethod: method(form, 'FallbackMethod') });
  if (url) call.interpreter.start({ kind: 'voice', url, method: method(form, 'Method'), extra: {} });
  else if (twiml) call.interpreter.start({ kind: 'text', twiml, source: 'rest' });
}

function fits(call: Call, query: Form): boolean {
  const { to, from, parentSid } = call.options;
  const same = (key: string, value: string | undefined) =>
    text(query, key) === '' || text(query, key) === value;
  return (
    same('To', to) &&
    same('From', from) &&
    same('Status', call.status) &&
    same('ParentCallSid', parentSid) &&
    within(query, 'StartTime', call.startedAt) &&
    within(query, 'EndTime', call.endedAt)
  );
}

/** `StartTime=` a day, `StartTime<=` and `StartTime>=` a day or a moment; in GMT. */
function within(query: Form, key: string, at: number | null): boolean {
  const day = text(query, key);
  const before = text(query, `${key}<`);
  const after = text(query, `${key}>`);
  if (!day && !before && !after) return true;
  if (at === null) return false;
  if (day && new Date(at).toISOString().slice(0, 10) !== day.slice(0, 10)) return false;
  const dayMs = 24 * 3600 * 1000;
  if (before && at > Date.parse(before) + (before.length <= 10 ? dayMs - 1 : 999)) return false;
  return !after || at >= Date.parse(after);
}

/** The Call resource: every scalar is text or null. */
function resourceOf(world: World, call: Call): Record<string, unknown> {
  const { to, from, direction, parentSid } = call.options;
  const { accountSid, priceDelayMs } = world.options;
  const uri = `/2010-04-01/Accounts/${accountSid}/Calls/${call.sid}`;
  const own = world.numbers.byNumber(direction === 'inbound' ? to : from);
  const seconds = call.durationSeconds();
  const priced =
    call.endedAt !== null && call.answeredAt !== null && Date.now() >= call.endedAt + priceDelayMs;
  const perMinute = direction === 'inbound' ? 0.0085 : 0.014;
  const date = (at: number | null) => (at === null ? null : rfc2822(at));
  const parts = ['events', 'notifications', 'payments', 'recordings', 'siprec', 'streams', 'transcriptions'];
  const names = [...parts, 'user_defined_message_subscriptions', 'user_defined_messages'];
  const pathOf = (name: string) =>
    name
      .split('_')
      .map((word) => word[0]!.toUpperCase() + word.slice(1))
      .join('');
  return {
    sid: call.sid,
    account_sid: accountSid,
    parent_call_sid: parentSid ?? null,
    phone_number_sid: own?.sid ?? null,
    to,
    to_formatted: formatted(to),
    from,
    from_formatted: formatted(from),
    status: call.status,
    direction,
    start_time: date(call.startedAt),
    end_time: date(call.endedAt),
    duration: seconds === null ? null : String(seconds),
    price: priced ? (-perMinute * Math.ceil(seconds! / 60)).toFixed(5) : null,
    price_unit: 'USD',
    answered_by: call.answeredBy,
    forwarded_from: null,
    caller_name: null,
    group_sid: null,
    trunk_sid: null,
    annotation: null,
    queue_time: String(call.queueMs),
    api_version: '2010-04-01',
    date_created: date(call.createdAt),
    date_updated: date(call.updatedAt),
    uri: `${uri}.json`,
    subresource_uris: Object.fromEntries(names.map((name) => [name, `${uri}/${pathOf(name)}.json`])),
  };
}
