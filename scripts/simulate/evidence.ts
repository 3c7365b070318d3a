// PURE. Everything that a simulated call leaves behind, as the checks and the picture read it: shapes, and what follows
// from them. Collected in run.ts.
import type { CallReport } from '../carrier-simulator/report.ts';
import type { Clip, Scenario } from './scenarios.ts';
import type { Stage } from './waterfall.ts';

/** A time without sound, as /v1 tells it; in ms since the media stream began. */
export interface CallGap {
  why: string;
  from_ms: number;
  to_ms: number | null;
}

/** The call as /v1 shows it; the fields that are looked at. */
export interface CallObject {
  id: string;
  status: string;
  direction: string;
  to_number: string;
  from_number: string;
  created_at: string;
  started_at: string | null;
  answered_at: string | null;
  ended_at: string | null;
  result: Record<string, unknown> | null;
  result_status: string;
  result_error: string | null;
  error_code: string | null;
  error_message: string | null;
  hangup_cause: string | null;
  gaps: CallGap[];
  disclosure: {
    text: string;
    heard_text: string;
    heard_ms: number;
    started_ms: number;
    ended_ms: number | null;
    complete: boolean;
  } | null;
  opted_out: { at_ms: number; text: string; by: 'words' | 'tool' } | null;
  [field: string]: unknown;
}

export interface TranscriptItem {
  id: string;
  role: 'agent' | 'caller' | 'tool' | 'system';
  text: string;
  heard_text: string;
  interrupted: boolean;
  started_at: string;
  /** ms since the media stream began */
  start_ms: number;
  end_ms: number | null;
}

/** A turn as GET /v1/calls/{id}/turns tells it; the fields that are looked at. */
export interface Turn {
  index: number;
  kind: 'greeting' | 'answer' | 'prompt';
  speech_end_ms: number | null;
  decided_ms: number;
  first_heard_ms: number | null;
  latency_ms: number | null;
  /** Answers begun in pauses before it, and never heard. */
  thrown_away: number;
  parts: Record<`${Stage}_ms`, number | null>;
}

/** The person speaking into the agent's voice, as the same tells it. */
export interface Interruption {
  at_ms: number;
  held_ms: number | null;
  paused_ms: number | null;
  taken_back: boolean;
}

/** A webhook as it arrived. */
export interface ReceivedEvent {
  received_at: string;
  id: string;
  type: string;
  sequence: number;
  attempt: number;
  replay: boolean;
  /** Null when the signature is right, else why not. */
  signature_error: string | null;
  body: CallObject;
}

export interface Delivery {
  id: string;
  event_type: string;
  status: string;
  attempt_count: number;
  last_error: string | null;
  [field: string]: unknown;
}

/** A session of the model simulator, from its control API; the fields that are looked at. */
export interface ModelSession {
  id: string;
  age_ms: number;
  config: {
    instructions: string;
    audio: { output: { format: { type: string } } };
    [field: string]: unknown;
  };
  received_wav: string | null;
  sent_wav: string | null;
  items: {
    id: string;
    type: string;
    role?: string;
    name?: string;
    arguments?: string;
    output?: string;
    believed_text: string;
    truncated_ms?: number | null;
    [field: string]: unknown;
  }[];
  responses: { id: string; status: string; occasion: string | null; say: string | null }[];
  violations: { at_ms: number; code: string; message: string }[];
  events: { at_ms: number; from: string; type: string; [field: string]: unknown }[];
  [field: string]: unknown;
}

/** What the daemon counted on the call's media, from its log. */
export interface MediaCounts {
  framesIn: number;
  framesOut: number;
  filledMs: number;
  duplicateFrames: number;
  lateFrames: number;
  malformedMessages: number;
  bargeIns: number;
  recordingFrames: number;
  recordingDropped: number;
}

/** What became of the number of who asked not to be called again. */
export interface DoNotCall {
  /** Its entry on the list; null: there is none. */
  entry: { id: string; source: string; call_id: string | null; item_id: string | null } | null;
  /** The code with which another call to it was refused; null: it was placed. */
  refused: string | null;
}

export interface ToolRequest {
  at: string;
  /** The last part tells the call. */
  path: string;
  method: string;
  body: unknown;
}

/** 8 kHz samples. */
export interface TwoVoices {
  caller: Float32Array;
  agent: Float32Array;
}

/** When the daemon was killed, and when another process took connections; times of this machine's clock, in ms. */
export interface Killed {
  atMs: number;
  listeningMs: number;
}

export interface Evidence {
  scenario: Scenario;
  call: CallObject;
  transcript: { status: string; data: TranscriptItem[] };
  turns: Turn[];
  interruptions: Interruption[];
  events: ReceivedEvent[];
  deliveries: Delivery[];
  /** The carrier simulator's account; null when the call never reached it. */
  carrier: CallReport | null;
  sessions: ModelSession[];
  /** Null: it was not killed. */
  killed: Killed | null;
  /** Null where nobody asked for it. */
  doNotCall: DoNotCall | null;
  /** Refused requests to the extraction endpoint. */
  refusedExtractions: string[];
  media: MediaCounts | null;
  /** For how long in all this machine kept a process waiting that only waits, while the calls were on, in milliseconds. */
  machineLateMs: number;
  /** Lines of the daemon's log at level error, about this call or about none. */
  logErrors: string[];
  toolRequests: ToolRequest[];
  sounds: {
    /** The recordings of the person, by path. */
    clips: Record<string, Float32Array>;
    /** What the person said and heard, on the phone's side. */
    phone: TwoVoices | null;
    /** GET /v1/calls/{id}/recording. */
    recording: TwoVoices | null;
    modelReceived: Float32Array | null;
    modelSent: Float32Array | null;
  };
}

/** One stretch of speech that the model sent. */
export interface SpokenItem {
  id: string;
  say: string;
  /** Where it lies in the sound of everything sent, ms. */
  fromMs: number;
  ms: number;
  /** How much of it the model was told to have been heard: null: all of it. 0: none, the item was deleted. */
  cutMs: number | null;
  believed: string;
}

const BYTES_PER_MS: Record<string, number> = { 'audio/pcm': 48, 'audio/pcmu': 8, 'audio/pcma': 8 };

/** What a session said, in order, and what it takes for heard. */
export function spokenItems(session: ModelSession): SpokenItem[] {
  const bytesPerMs = BYTES_PER_MS[session.config.audio.output.format.type] ?? 8;
  const says = new Map(session.responses.map((response) => [response.id, response.say ?? '']));
  const items = new Map<string, { responseId: string; bytes: number }>();
  for (const event of session.events) {
    if (event.from !== 'server' || event.type !== 'response.output_audio.delta') continue;
    const id = String(event.item_id);
    const found = items.get(id);
    if (found === undefined) {
      items.set(id, { responseId: String(event.response_id), bytes: Number(event.audio_bytes) });
    } else found.bytes += Number(event.audio_bytes);
  }
  let fromMs = 0;
  return [...items].map(([id, { responseId, bytes }]) => {
    const kept = session.items.find((item) => item.id === id);
    const spoken: SpokenItem = {
      id,
      say: says.get(responseId) ?? '',
      fromMs,
      ms: bytes / bytesPerMs,
      cutMs: kept === undefined ? 0 : (kept.truncated_ms ?? null),
      believed: kept?.believed_text ?? '',
    };
    fromMs += spoken.ms;
    return spoken;
  });
}

/**
 * What all sessions of a call said, in order, as if their sound were one. What a session had sent when its process was killed
 * is cut where the phone network had played it, and believed as the next session was told.
 */
export function spokenOf({ sessions, carrier, killed }: Pick<Evidence, 'sessions' | 'carrier' | 'killed'>) {
  let beforeMs = 0;
  return sessions.flatMap((session, i) => {
    const fromMs = beforeMs;
    const items = spokenItems(session);
    beforeMs += items.reduce((sum, { ms }) => sum + ms, 0);
    const placed = items.map((item) => ({ ...item, fromMs: item.fromMs + fromMs }));
    const next = sessions[i + 1];
    const playedBytes = carrier?.streams[i]?.playedBytes;
    return killed === null || next === undefined || playedBytes === undefined
      ? placed
      : cutByKill(placed, playedBytes / 8, next);
  });
}

function cutByKill(items: readonly SpokenItem[], playedMs: number, next: ModelSession): SpokenItem[] {
  const told = next.items.filter(({ role }) => role === 'assistant').map((item) => item.believed_text);
  let leftMs = playedMs;
  return items.map((item) => {
    const heardMs = item.cutMs ?? item.ms;
    const cutMs = Math.min(heardMs, leftMs);
    leftMs -= cutMs;
    if (cutMs === heardMs) return item;
    const words = wordsOf(item.say).join(' ');
    const believed = told.find((text) => text !== '' && words.startsWith(wordsOf(text).join(' '))) ?? '';
    return { ...item, cutMs, believed };
  });
}

/** Words alone, for comparing: no punctuation, no case. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];
}

/** The agent's lines of a transcript beside what the model said, in order; a line without a counterpart stands alone. */
export function pairLines(
  transcript: readonly TranscriptItem[],
  spoken: readonly SpokenItem[],
): { line: TranscriptItem | null; item: SpokenItem | null }[] {
  const pairs: { line: TranscriptItem | null; item: SpokenItem | null }[] = [];
  let next = 0;
  for (const line of transcript.filter(({ role }) => role === 'agent')) {
    const words = wordsOf(line.text).join(' ');
    let at = next;
    // A line cut before its text was whole holds the beginning.
    while (at < spoken.length && !wordsOf(spoken[at]!.say).join(' ').startsWith(words)) at++;
    if (at === spoken.length) {
      pairs.push({ line, item: null });
      continue;
    }
    for (; next < at; next++) pairs.push({ line: null, item: spoken[next]! });
    pairs.push({ line, item: spoken[at]! });
    next = at + 1;
  }
  for (; next < spoken.length; next++) pairs.push({ line: null, item: spoken[next]! });
  return pairs;
}

/** Milliseconds from the answer to the start of the media stream, on the phone's side. */
export function streamOffsetMs(carrier: CallReport): number {
  const started = carrier.streams[0]?.startedMs ?? null;
  return started === null || carrier.answeredAtMs === null ? 0 : started - carrier.answeredAtMs;
}

/** A stretch of somebody's speech, in ms since the answer. */
export interface Spurt {
  startMs: number;
  endMs: number;
}

/** Pauses between words shorter than this are inside one stretch. */
const JOIN_MS = 300;

/** Where the words of a recording lie, joined over the short pauses between them; ms from its start. */
export function wordStretches(clip: Clip): Spurt[] {
  const found: Spurt[] = [];
  for (const [startMs, endMs] of clip.words) {
    const last = found.at(-1);
    if (last !== undefined && startMs - last.endMs < JOIN_MS) last.endMs = endMs;
    else found.push({ startMs, endMs });
  }
  return found;
}

/**
 * When the person spoke and wanted the floor: the words of the recordings, where the phone network played them. Room noise is no
 * speech.
 */
function personSpeech({ carrier, scenario }: Pick<Evidence, 'carrier' | 'scenario'>): Spurt[] {
  const sounding = (carrier?.steps ?? []).filter((step) => step.do === 'say' || step.do === 'barge_in');
  return sounding.flatMap(({ startedMs, endedMs }, i) => {
    const clip = scenario.speaks[i];
    if (clip === undefined || clip.goOn === true || startedMs === null) return [];
    return wordStretches(clip).flatMap(({ startMs, endMs }) => {
      // A call that ends cuts the recording too.
      const until = Math.min(startedMs + endMs, endedMs ?? Number.POSITIVE_INFINITY);
      return startedMs + startMs < until ? [{ startMs: startedMs + startMs, endMs: until }] : [];
    });
  });
}

export interface Answer {
  /** When the person had ended, ms since the answer. */
  fromMs: number;
  /** When the agent was heard. */
  toMs: number;
}

/** The silences between the end of the person's speech and the agent's first sound after it. */
export function answersOf(evidence: Pick<Evidence, 'carrier' | 'scenario'>): Answer[] {
  const agent = evidence.carrier?.conversation?.agentSpurts ?? [];
  const person = personSpeech(evidence);
  return person.flatMap(({ endMs }, index) => {
    const until = person[index + 1]?.startMs ?? Number.POSITIVE_INFINITY;
    const overlapped = agent.some((spurt) => spurt.startMs <= endMs && spurt.endMs > endMs);
    const first = agent.find(({ startMs }) => startMs > endMs && startMs < until);
    return overlapped || first === undefined ? [] : [{ fromMs: endMs, toMs: first.startMs }];
  });
}

export interface BargeIn {
  /** When the person began to speak while the agent did, ms since the answer. */
  atMs: number;
  /** How long the agent was heard after that. */
  reactionMs: number;
}

/** Where the person spoke into the agent's speech. */
export function bargeInsOf(evidence: Pick<Evidence, 'carrier' | 'scenario'>): BargeIn[] {
  const agent = evidence.carrier?.conversation?.agentSpurts ?? [];
  return personSpeech(evidence).flatMap(({ startMs }) => {
    const spurt = agent.find((one) => one.startMs < startMs && one.endMs > startMs);
    return spurt === undefined ? [] : [{ atMs: startMs, reactionMs: spurt.endMs - startMs }];
  });
}
