// What happened to a call, in words: why it ended, who was on the line. PURE.
import type { Call } from '../../sdk/index.ts';
import { phone, words } from './format.ts';

const CAUSES: Record<string, string> = {
  remote_hangup: 'The other side hung up',
  normal_clearing: 'Ended normally',
  agent_ended: 'The agent ended it',
  caller_silent: 'The other side said nothing for too long',
  voicemail: 'A voicemail answered',
  fax: 'A fax answered',
  transferred: 'Transferred to a person',
  hangup_requested: 'Hung up by an operator or a program',
  canceled: 'Canceled before it was answered',
  max_duration: 'The longest time of a call was reached',
  credit_exhausted: 'The credit was used up',
  draining: 'The daemon was shutting down',
  refused_by_carrier: 'The carrier refused it',
  no_answer: 'Nobody answered',
  busy: 'The line was busy',
  transfer_failed: 'It could not be transferred',
  failed: 'It could not be connected',
  stream_lost: "The carrier's audio stream was lost",
  stream_ended: 'The audio had ended',
  stream_never_started: 'The audio never came',
  media_timeout: 'The carrier sent no audio any more',
  carrier_backpressure: 'The carrier stopped taking audio',
  stalled: 'Nobody was heard any more',
  call_stalled: 'Nobody was heard any more',
  media_silent: 'A part of the daemon said nothing more of it',
  model_failed: 'The speech model failed',
  model_silent: 'The speech model did not answer in time',
  model_unreachable: 'The speech model could not be reached',
  model_refused: 'The speech model refused',
  model_lost: 'The connection to the speech model was lost',
  model_error: 'The speech model failed',
  thread_lost: 'A part of the daemon broke down',
  media_thread_lost: 'A part of the daemon broke down',
  daemon_restart: 'The daemon restarted',
  daemon_stopped: 'The daemon was stopped',
  daemon_crashed: 'The daemon broke down',
  carrier_failed: 'The carrier could not connect it, or lost it',
  carrier_error: 'The carrier failed',
  no_answer_from_carrier: 'The carrier did not answer',
  not_possible: 'The carrier cannot do this',
};

/** Answers of the telephone network (RFC 3261, 21) that operators meet. */
const SIP: Record<string, string> = {
  '403': 'The network refused it',
  '404': 'There is no such number',
  '408': 'The network gave no answer in time',
  '410': 'The number is no longer in use',
  '480': 'The other side could not be reached',
  '484': 'The number is not complete',
  '486': 'The line was busy',
  '487': 'Ended before it was answered',
  '488': 'The other side takes no call of this kind',
  '500': 'The network failed',
  '503': 'The network is overloaded or away',
  '600': 'The other side was busy everywhere',
  '603': 'The other side declined',
  '604': 'There is no such number',
};

/** A cause of the end or a code of an error; what is not known stays readable. */
export function causeInWords(cause: string): string {
  const sip = /^SIP (\d{3})$/.exec(cause)?.[1];
  if (sip !== undefined) return SIP[sip] === undefined ? cause : `${SIP[sip]} (${cause})`;
  return CAUSES[cause] ?? words(cause);
}

/** The number of the other side, which is whom a person looks for. */
export const otherSide = (call: Pick<Call, 'direction' | 'from_number' | 'to_number'>): string =>
  call.direction === 'inbound' ? call.from_number : call.to_number;

/** What the other side is called where it has no number: a caller who withheld it, or a page. */
export function nameOfSide(number: string): string {
  if (number === 'browser') return 'the browser';
  return number === 'anonymous' || number === '' ? 'a withheld number' : phone(number);
}

/** The call in a few words, as the heading of its page. */
export function callTitle(call: Pick<Call, 'direction' | 'from_number' | 'to_number'>): string {
  const other = otherSide(call);
  if (other === 'browser') return 'Call in the browser';
  return `Call ${call.direction === 'inbound' ? 'from' : 'to'} ${nameOfSide(other)}`;
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'no_answer', 'busy', 'canceled', 'failed']);
export const isOver = (call: Pick<Call, 'status'>): boolean => ENDED.has(call.status);

/** Type and description of a field of a returns schema, in either of its forms. */
export function fieldOf(spec: unknown): { type: string; description: string } {
  if (typeof spec === 'string') return { type: spec, description: '' };
  const { type, description, enum: values } = (spec ?? {}) as Record<string, unknown>;
  const list = Array.isArray(values) ? ` (${values.join(', ')})` : '';
  return {
    type: `${typeof type === 'string' ? type : '?'}${list}`,
    description: typeof description === 'string' ? description : '',
  };
}

/** An extracted value as text; null: it was not said. */
export function valueInWords(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map((one) => valueInWords(one) ?? '–').join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

const UNDER_WAY: Record<string, string> = {
  queued: 'Waits to be dialled',
  initiated: 'Being dialled',
  ringing: 'Rings',
  in_progress: 'On the line',
};

/** Nobody came to talk: what the network says of it besides adds nothing. */
const UNREACHED: Record<string, string> = {
  no_answer: 'Nobody answered',
  busy: 'The line was busy',
  canceled: 'Canceled before the answer',
};

/** How a call ended, or where it is, in a few words; `code` is what the API says of it. */
export function outcomeOf(call: Pick<Call, 'status' | 'hangup_cause' | 'error_code'>): {
  words: string;
  code: string;
} {
  const code = [call.status, call.hangup_cause, call.error_code]
    .filter((one, at, all) => one !== null && one !== undefined && all.indexOf(one) === at)
    .join(', ');
  if (!isOver(call)) return { words: UNDER_WAY[call.status] ?? words(call.status), code };
  const unreached = UNREACHED[call.status];
  if (unreached !== undefined) return { words: unreached, code };
  if (call.hangup_cause === null) return { words: words(call.status), code };
  return { words: causeInWords(call.hangup_cause), code };
}

/** What a call brought, for one line: the fields of its result that were said, else its summary, else why there is nothing. */
export function broughtBy(
  call: Pick<Call, 'result' | 'returns' | 'result_status' | 'summary' | 'error_message' | 'status'>,
): { fields: readonly (readonly [name: string, value: string])[]; text: string | null } {
  const fields = Object.entries(call.result ?? {}).flatMap(([name, value]) => {
    const text = valueInWords(value);
    return text === null || text === '' ? [] : [[words(name), text] as const];
  });
  if (fields.length > 0) return { fields, text: null };
  const summary = summaryOf(call);
  if (summary !== null) return { fields, text: summary };
  if (call.error_message !== null) return { fields, text: call.error_message };
  if (!isOver(call) || Object.keys(call.returns ?? {}).length === 0) return { fields, text: null };
  if (call.result_status === 'pending') return { fields, text: 'Being taken from the words' };
  return { fields, text: call.result_status === 'failed' ? 'There is no result' : 'Nothing of it was said' };
}

/** How much was heard of what is said before all else; null where there was nothing to be said. */
export function disclosureInWords({ disclosure }: Pick<Call, 'disclosure'>): string | null {
  if (disclosure === null) return null;
  const { complete, heard_text, started_ms } = disclosure;
  if (complete) return 'Heard in full';
  if (heard_text === '') return started_ms === null ? 'Not said' : 'Nothing of it was heard';
  return `Heard: “${heard_text}”`;
}

/** What the call was about, where that was written; null: it was not. */
export const summaryOf = ({ summary }: Pick<Call, 'summary'>): string | null =>
  summary === null || summary.trim() === '' ? null : summary;
