// PURE. What a call cost: raw usage and connected time by a table of rates, beside the price that is charged for it.
// The rates that come along are list prices of one day; operators put their own over them (rates-file.ts).
import { countryOf } from '../../bridge/carriers/dial-codes.ts';
import type { CallCost, CallRecord, CostPart } from '../../storage/records.ts';

/** US dollars per million tokens. */
export interface SpeechRate {
  text_input: number;
  text_cached: number;
  text_output: number;
  audio_input: number;
  audio_cached: number;
  audio_output: number;
}

export interface TranscriptionRate {
  usd_per_minute?: number | undefined;
  /** For models that count tokens instead of seconds. */
  usd_per_million_tokens?: number | undefined;
}

/** US dollars per million tokens. */
export interface ExtractionRate {
  input: number;
  cached: number;
  output: number;
}

/** US dollars. Minutes are begun minutes: a carrier rounds up. */
export interface CarrierRate {
  /** By the country (ISO 3166) of the number called; `*`: any other. */
  outbound_minute: Record<string, number>;
  inbound_minute: Record<string, number>;
  /** The media stream beside the call. */
  stream_minute: number;
  /** Answering-machine detection of an answered outbound call. */
  machine_detection: number;
  /** A number a month, by its country and kind (`local`, `mobile`, `toll_free`, `national`), over the carrier's own list. */
  number_month?: Record<string, Record<string, number>> | undefined;
}

export interface Rates {
  /** The day of the rates, YYYY-MM-DD. */
  as_of: string;
  speech: Record<string, SpeechRate>;
  transcription: Record<string, TranscriptionRate>;
  extraction: Record<string, ExtractionRate>;
  carriers: Record<string, CarrierRate>;
}

const LARGE_SPEECH: SpeechRate = {
  text_input: 4,
  text_cached: 0.4,
  text_output: 24,
  audio_input: 32,
  audio_cached: 0.4,
  audio_output: 64,
};

/**
 * Sources: the model pages of platform.openai.com/docs/models and openai.com/api/pricing; twilio.com/en-us/voice/pricing.
 * UNVERIFIED with an account of either: the carrier's rates differ by account, and by kind of number.
 */
export const RATES: Rates = {
  as_of: '2026-11-10',
  speech: {
    'gpt-realtime-2.1': LARGE_SPEECH,
    'gpt-realtime-2': LARGE_SPEECH,
    'gpt-realtime-1.5': { ...LARGE_SPEECH, text_output: 16 },
    'gpt-realtime-2.1-mini': {
      text_input: 0.6,
      text_cached: 0.06,
      text_output: 2.4,
      audio_input: 10,
      audio_cached: 0.3,
      audio_output: 20,
    },
  },
  transcription: {
    'gpt-transcribe': { usd_per_minute: 0.0045 },
    'gpt-live-transcribe': { usd_per_minute: 0.017 },
    'gpt-realtime-whisper': { usd_per_minute: 0.017 },
    'gpt-4o-transcribe': { usd_per_minute: 0.006 },
    'gpt-4o-mini-transcribe': { usd_per_minute: 0.003 },
  },
  extraction: {
    'gpt-5.6-luna': { input: 0.2, cached: 0.02, output: 1.2 },
  },
  carriers: {
    twilio: {
      outbound_minute: { US: 0.014, CA: 0.014 },
      inbound_minute: { US: 0.0085, CA: 0.0085 },
      stream_minute: 0.004,
      machine_detection: 0.0075,
    },
  },
};

/** Of a call that goes over no telephone line. */
const NO_LINE: CarrierRate = {
  outbound_minute: { '*': 0 },
  inbound_minute: { '*': 0 },
  stream_minute: 0,
  machine_detection: 0,
};

/** What numbers of a country cost a month by these rates, in cents by kind of number. */
export function numberPricesOf(rates: Rates, carrier: string, country: string): Record<string, number> {
  const usd = rates.carriers[carrier]?.number_month?.[country] ?? {};
  return Object.fromEntries(Object.entries(usd).map(([kind, price]) => [kind, Math.round(price * 100)]));
}

const MILLI_CENTS_PER_USD = 100_000;

/** The names in force when the call was made. */
export interface CostNames {
  speech: string;
  transcription: string;
  extraction: string;
}

/** The rate of a model; of a dated snapshot (`…-2026-05-01`) the rate of the model it is of. */
function rateOf<R>(rates: Record<string, R>, name: string): R | null {
  const general = name.replace(/-\d{4}-\d{2}-\d{2}$/, '');
  const known = Object.hasOwn(rates, name) ? name : general;
  return Object.hasOwn(rates, known) ? (rates[known] ?? null) : null;
}

/** `usd` null: not known, which matters only where something was used. */
function part(name: string, used: Record<string, number>, usd: number | null): CostPart {
  const nothing = Object.values(used).every((count) => count === 0);
  const known = nothing ? 0 : usd;
  return { name, milli_cents: known === null ? null : Math.round(known * MILLI_CENTS_PER_USD), used };
}

function speechPart(name: string, usage: Record<string, number>, rate: SpeechRate | null): CostPart {
  const count = (field: string) => usage[field] ?? 0;
  const used = {
    input_text_tokens: count('input_text_tokens'),
    input_audio_tokens: count('input_audio_tokens'),
    cached_text_tokens: count('cached_text_tokens'),
    cached_audio_tokens: count('cached_audio_tokens'),
    output_text_tokens: count('output_text_tokens'),
    output_audio_tokens: count('output_audio_tokens'),
    // Of these, for answers begun early that nobody heard.
    ...(count('thrown_away_input_tokens') + count('thrown_away_output_tokens') > 0 && {
      thrown_away_input_tokens: count('thrown_away_input_tokens'),
      thrown_away_output_tokens: count('thrown_away_output_tokens'),
    }),
  };
  if (rate === null) return part(name, used, null);
  // Cached tokens are among the input's: they are taken out once, and cost their own rate.
  const text = Math.min(used.cached_text_tokens, used.input_text_tokens);
  const audio = Math.min(used.cached_audio_tokens, used.input_audio_tokens);
  const perMillion =
    (used.input_text_tokens - text) * rate.text_input +
    text * rate.text_cached +
    (used.input_audio_tokens - audio) * rate.audio_input +
    audio * rate.audio_cached +
    used.output_text_tokens * rate.text_output +
    used.output_audio_tokens * rate.audio_output;
  return part(name, used, perMillion / 1e6);
}

function transcriptionPart(
  name: string,
  usage: Record<string, number>,
  rate: TranscriptionRate | null,
): CostPart {
  const seconds = usage.transcription_seconds ?? 0;
  const tokens = usage.transcription_tokens ?? 0;
  const used = { seconds, tokens };
  const byTime = seconds === 0 ? 0 : rate?.usd_per_minute && (seconds / 60) * rate.usd_per_minute;
  const byTokens =
    tokens === 0 ? 0 : rate?.usd_per_million_tokens && (tokens / 1e6) * rate.usd_per_million_tokens;
  return part(name, used, byTime === undefined || byTokens === undefined ? null : byTime + byTokens);
}

function extractionPart(name: string, usage: Record<string, number>, rate: ExtractionRate | null): CostPart {
  const used = {
    input_tokens: usage.input_tokens ?? 0,
    cached_tokens: usage.cached_tokens ?? 0,
    output_tokens: usage.output_tokens ?? 0,
  };
  if (rate === null) return part(name, used, null);
  const cached = Math.min(used.cached_tokens, used.input_tokens);
  const perMillion =
    (used.input_tokens - cached) * rate.input + cached * rate.cached + used.output_tokens * rate.output;
  return part(name, used, perMillion / 1e6);
}

function carrierPart(
  call: Pick<CallRecord, 'carrier' | 'direction' | 'to_number' | 'billed_duration_seconds'>,
  rate: CarrierRate | null,
): CostPart {
  const minutes = Math.ceil((call.billed_duration_seconds ?? 0) / 60);
  const outbound = call.direction === 'outbound';
  const detections = outbound && call.billed_duration_seconds !== null ? 1 : 0;
  const used = { minutes, machine_detections: detections };
  if (rate === null) return part(call.carrier, used, null);
  const table = outbound ? rate.outbound_minute : rate.inbound_minute;
  const perMinute = rateOf(table, countryOf(call.to_number)) ?? table['*'] ?? null;
  const usd =
    perMinute === null
      ? null
      : minutes * (perMinute + rate.stream_minute) + detections * rate.machine_detection;
  return part(call.carrier, used, usd);
}

/**
 * What a call cost. A part is null where something was used whose rate is not known, and the total then is too.
 * The second leg of a transfer is not in it: its minutes are the carrier's to tell.
 */
export function costOf(
  call: Pick<
    CallRecord,
    | 'carrier'
    | 'telephone'
    | 'direction'
    | 'to_number'
    | 'billed_duration_seconds'
    | 'usage'
    | 'extraction_usage'
  >,
  names: CostNames,
  rates: Rates,
): CallCost {
  const usage = call.usage ?? {};
  const model = speechPart(names.speech, usage, rateOf(rates.speech, names.speech));
  const transcription = transcriptionPart(
    names.transcription,
    usage,
    rateOf(rates.transcription, names.transcription),
  );
  const extraction = extractionPart(
    names.extraction,
    call.extraction_usage ?? {},
    rateOf(rates.extraction, names.extraction),
  );
  const carrier = carrierPart(call, call.telephone ? rateOf(rates.carriers, call.carrier) : NO_LINE);
  let total: number | null = 0;
  for (const { milli_cents } of [model, transcription, extraction, carrier]) {
    total = total === null || milli_cents === null ? null : total + milli_cents;
  }
  return {
    estimate: true,
    total_milli_cents: total,
    model,
    transcription,
    extraction,
    carrier,
    as_of: rates.as_of,
  };
}
