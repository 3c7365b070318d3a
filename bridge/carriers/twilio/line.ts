// Calls at Twilio: placed, connected, ended, handed over and looked up. https://www.twilio.com/docs/voice/api/call-resource.
// Requests and errors are rest.ts, documents twiml.ts; what the calls mean is not known here.
import * as z from 'zod';
import { AppError } from '../../../errors.ts';
import type { CarrierCallSnapshot, Line } from '../carrier.ts';
import { text } from './fields.ts';
import type { Form, TwilioRest } from './rest.ts';
import { carrierStatus } from './status.ts';
import {
  MAX_INLINE_TWIML,
  renderDigits,
  renderReject,
  renderSpeech,
  renderStream,
  renderTransfer,
} from './twiml.ts';
import type { WaitingHooks } from './waiting-hooks.ts';

/** How long a third party rings when a call is handed over. */
const TRANSFER_RING_SECONDS = 25;

const call = z.looseObject({
  sid: z.string(),
  status: z.string(),
  to: text,
  from: text,
  duration: text,
  date_created: text,
  start_time: text,
  end_time: text,
});
const calls = z.looseObject({ calls: z.array(call) });

/**
 * @param o.account URL of the account
 * @param o.hookUrl where Twilio asks or tells of a step of a call
 * @param o.waiting hooks that want a document: what is commanded of their call is answered there
 */
export function openTwilioLine(
  rest: TwilioRest,
  o: { account: string; hookUrl(callId: string, step: string): string; waiting: WaitingHooks },
): Line {
  const { account, hookUrl, waiting } = o;
  const callUrl = (carrierCallId: string) => `${account}/Calls/${encodeURIComponent(carrierCallId)}.json`;

  async function end(
    carrierCallId: string,
    status: 'completed' | 'canceled',
  ): Promise<'ended' | 'already_ended'> {
    try {
      await rest.post(callUrl(carrierCallId), { Status: status }, { repeat: true });
      return 'ended';
    } catch (error) {
      if (isGone(error)) return 'already_ended';
      throw error;
    }
  }

  async function redirect(carrierCallId: string, twiml: string): Promise<void> {
    if (twiml.length > MAX_INLINE_TWIML)
      throw new AppError('internal', 'a document is too long for the carrier');
    await rest.post(callUrl(carrierCallId), { Twiml: twiml });
  }

  async function lookUp(carrierCallId: string): Promise<CarrierCallSnapshot | null> {
    try {
      return snapshot(await rest.get(callUrl(carrierCallId), call));
    } catch (error) {
      if (error instanceof AppError && error.carrierCode === '20404') return null;
      throw error;
    }
  }

  return {
    async place({ callId, to, from, ringSeconds, maxSeconds, machineDetection }) {
      const form: Form = {
        To: to,
        From: from,
        Url: hookUrl(callId, 'answer'),
        Method: 'POST',
        StatusCallback: hookUrl(callId, 'status'),
        StatusCallbackMethod: 'POST',
        StatusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
        Timeout: String(ringSeconds),
        TimeLimit: String(maxSeconds),
        ...(machineDetection === null ? {} : detection(machineDetection, hookUrl(callId, 'machine'))),
      };
      const created = await rest.post(`${account}/Calls.json`, form, { schema: call, outcomeUnknown: true });
      return { carrierCallId: created.sid };
    },

    async connect(carrierCallId, { callId, url, token }) {
      const twiml = renderStream({
        url,
        parameters: { callId, token },
        afterUrl: hookUrl(callId, 'after'),
        statusUrl: hookUrl(callId, 'stream'),
      });
      if (waiting.answer(carrierCallId, twiml)) return;
      await unlessGone(redirect(carrierCallId, twiml));
    },
    async reject(carrierCallId, reason) {
      // Without a hook that waits it has been answered, or is over.
      if (!waiting.answer(carrierCallId, renderReject(reason))) await end(carrierCallId, 'completed');
    },
    async hangUp(carrierCallId, { answered }) {
      if (answered) return end(carrierCallId, 'completed');
      if ((await end(carrierCallId, 'canceled')) === 'ended') return 'ended';
      // The same refusal is given for a call that has ended and for one that was answered meanwhile.
      const seen = await lookUp(carrierCallId);
      return seen?.status === 'answered' ? end(carrierCallId, 'completed') : 'already_ended';
    },

    transfer: (carrierCallId, to, { callId, from }) =>
      redirect(
        carrierCallId,
        renderTransfer({
          to,
          from,
          resultUrl: hookUrl(callId, 'transfer-result'),
          ringSeconds: TRANSFER_RING_SECONDS,
        }),
      ),
    async sendKeys(carrierCallId, digits, { callId }) {
      if (!/^[0-9A-Da-d*#wW]{1,64}$/.test(digits)) throw new AppError('internal', 'these are no key tones');
      await redirect(carrierCallId, renderDigits({ digits, thenUrl: hookUrl(callId, 'answer') }));
    },
    sayAndHangUp: (carrierCallId, line) => unlessGone(redirect(carrierCallId, renderSpeech(line))),

    lookUp,
    async find({ to, from, since }) {
      // Not filtered by StartTime at the carrier: a call that is queued there has none yet.
      const query = new URLSearchParams({ To: to, From: from, PageSize: '50' });
      const list = await rest.get(`${account}/Calls.json?${query}`, calls);
      // The carrier's times are whole seconds.
      const earliest = Math.floor(Date.parse(since) / 1000) * 1000;
      return list.calls
        .filter((one) => {
          const at = Date.parse(one.date_created ?? one.start_time ?? '');
          return Number.isNaN(at) || at >= earliest;
        })
        .map(snapshot);
    },
  };
}

function detection(mode: 'detect' | 'message_end', hookUrl: string): Form {
  return {
    MachineDetection: mode === 'detect' ? 'Enable' : 'DetectMessageEnd',
    // Greetings run 10 to 40 s; where only the verdict counts, 20 s are enough.
    MachineDetectionTimeout: mode === 'detect' ? '20' : '45',
    AsyncAmd: 'true',
    AsyncAmdStatusCallback: hookUrl,
    AsyncAmdStatusCallbackMethod: 'POST',
  };
}

async function unlessGone(asked: Promise<void>): Promise<void> {
  try {
    await asked;
  } catch (error) {
    if (!isGone(error)) throw error;
  }
}

/** A call that is not there, or not in a state that can be changed, has ended as far as we are concerned. */
function isGone(error: unknown): boolean {
  return error instanceof AppError && (error.carrierCode === '21220' || error.carrierCode === '20404');
}

function snapshot(it: z.infer<typeof call>): CarrierCallSnapshot {
  const status = carrierStatus(it.status);
  if (status === null) {
    throw new AppError(
      'carrier_error',
      `The carrier reports a call status that is not known (${it.status}).`,
      {
        retryable: false,
      },
    );
  }
  return {
    carrierCallId: it.sid,
    status,
    to: it.to ?? '',
    from: it.from ?? '',
    durationSeconds: it.duration !== null && /^\d+$/.test(it.duration) ? Number(it.duration) : null,
    startedAt: isoTime(it.start_time),
    endedAt: isoTime(it.end_time),
  };
}

function isoTime(rfc2822: string | null): string | null {
  const time = Date.parse(rfc2822 ?? '');
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
