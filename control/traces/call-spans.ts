// A call that is over as spans: the call, its ringing and talking, each answer with the model's share of it, tools, gaps of
// the line, the result. Times and counts, and no word that was said, no number, no argument and no answer of a tool. PURE.
import type {
  CallRecord,
  InterruptionRecord,
  TranscriptItemRecord,
  TurnRecord,
} from '../../storage/records.ts';

type Attribute = string | number | boolean;

/** What the API's own types call a span, before there is a tracer. */
export interface SpanFacts {
  name: string;
  /** Of the spans before it; null: the root. */
  parent: number | null;
  /** Milliseconds of the wall clock. */
  startMs: number;
  endMs: number;
  kind: 'internal' | 'client' | 'server';
  attributes: Record<string, Attribute>;
  /** Moments within it. */
  events: { name: string; atMs: number; attributes: Record<string, Attribute> }[];
  /** Why it failed; null: it did not. */
  error: string | null;
}

export interface CallFacts {
  call: CallRecord;
  turns: readonly TurnRecord[];
  interruptions: readonly InterruptionRecord[];
  transcript: readonly TranscriptItemRecord[];
  /** When its last event was told. */
  toldAt: string;
}

/** Of one call; what is more is left out, and how much says the root. */
const MOST_SPANS = 1_000;

const ms = (time: string | null): number | null => (time === null ? null : Date.parse(time));

function known(attributes: Record<string, Attribute | null | undefined>): Record<string, Attribute> {
  return Object.fromEntries(
    Object.entries(attributes).filter(
      (one): one is [string, Attribute] => one[1] !== null && one[1] !== undefined,
    ),
  );
}

/** The tool's name and how it went; what it was asked and has answered stays behind. */
function toolOf(text: string): { name: string; ok: boolean | null } {
  try {
    const noted = JSON.parse(text) as { name?: unknown; ok?: unknown } | null;
    if (typeof noted?.name === 'string')
      return { name: noted.name, ok: typeof noted.ok === 'boolean' ? noted.ok : null };
  } catch {
    // Not JSON: one that is built in.
  }
  return { name: /^[\w.-]+/.exec(text)?.[0] ?? 'tool', ok: null };
}

function rootOf({ call, toldAt }: CallFacts, startMs: number): SpanFacts {
  const endMs = Math.max(startMs, ms(call.ended_at) ?? Date.parse(toldAt));
  return {
    name: `call ${call.direction}`,
    parent: null,
    startMs,
    endMs,
    kind: call.direction === 'inbound' ? 'server' : 'client',
    attributes: known({
      'offhook.call.id': call.id,
      'offhook.org.id': call.org_id,
      'offhook.agent.id': call.agent_id,
      'offhook.call.direction': call.direction,
      'offhook.call.status': call.status,
      'offhook.call.carrier': call.carrier,
      'offhook.call.telephone': call.telephone,
      'offhook.call.language': call.language,
      'offhook.call.answered_by': call.answered_by,
      'offhook.call.hangup_cause': call.hangup_cause,
      'offhook.call.duration_seconds': call.duration_seconds,
      'offhook.call.gaps': call.gaps.length,
      'gen_ai.request.model': call.model,
      'error.type': call.status === 'failed' ? (call.error_code ?? call.hangup_cause) : null,
    }),
    events: [],
    error: call.status === 'failed' ? (call.error_code ?? call.hangup_cause ?? 'failed') : null,
  };
}

const inner = (
  name: string,
  parent: number,
  startMs: number,
  endMs: number,
  more: Partial<SpanFacts> = {},
): SpanFacts => ({
  name,
  parent,
  startMs,
  endMs: Math.max(startMs, endMs),
  kind: 'internal',
  attributes: {},
  events: [],
  error: null,
  ...more,
});

/** An answer from what it answers until it is heard, and within it the model's time to its first sound. */
function* turnSpans(turn: TurnRecord, call: CallRecord, parent: number, at: number, streamMs: number) {
  const began = turn.speech_end_ms ?? Math.min(turn.decided_ms, turn.requested_ms ?? turn.decided_ms);
  const heard = turn.first_heard_ms ?? turn.first_sent_ms ?? turn.first_model_audio_ms ?? turn.decided_ms;
  yield inner(`turn ${turn.kind}`, parent, streamMs + began, streamMs + heard, {
    attributes: known({
      'offhook.turn.index': turn.turn_index,
      'offhook.turn.kind': turn.kind,
      'offhook.turn.barged_in': turn.barged_in,
      'offhook.turn.thrown_away': turn.thrown_away,
      'offhook.turn.heard': turn.first_heard_ms !== null,
      'offhook.turn.latency_ms':
        turn.first_heard_ms === null || turn.speech_end_ms === null
          ? null
          : Math.round(turn.first_heard_ms - turn.speech_end_ms),
    }),
  });
  if (turn.requested_ms === null) return;
  const sounded = turn.first_model_audio_ms;
  yield inner('model request', at, streamMs + turn.requested_ms, streamMs + (sounded ?? heard), {
    kind: 'client',
    attributes: known({
      'gen_ai.operation.name': 'generate_content',
      'gen_ai.request.model': call.model,
      'offhook.model.sounded': sounded !== null,
    }),
  });
}

/** What happened on the line, in the order of its beginning. */
function talkSpans(facts: CallFacts, talk: number, streamMs: number, endMs: number): SpanFacts[] {
  const { call, turns, transcript } = facts;
  const spans: SpanFacts[] = [];
  for (const turn of turns) {
    const at = talk + 1 + spans.length;
    spans.push(...turnSpans(turn, call, talk, at, streamMs));
  }
  for (const item of transcript) {
    const startMs = streamMs + item.start_ms;
    const until = item.end_ms === null ? startMs : streamMs + item.end_ms;
    if (item.role === 'tool') {
      const { name, ok } = toolOf(item.text);
      spans.push(
        inner(`tool ${name}`, talk, startMs, until, {
          kind: 'client',
          attributes: known({ 'gen_ai.tool.name': name, 'offhook.tool.ok': ok }),
          error: ok === false ? 'failed' : null,
        }),
      );
    } else if (item.role !== 'system') {
      spans.push(
        inner(`speech ${item.role}`, talk, startMs, until, {
          attributes: { 'offhook.speech.role': item.role, 'offhook.speech.interrupted': item.interrupted },
        }),
      );
    }
  }
  for (const gap of call.gaps) {
    const until = gap.to_ms === null ? endMs : streamMs + gap.to_ms;
    spans.push(
      inner('line gap', talk, streamMs + gap.from_ms, until, {
        attributes: { 'offhook.gap.why': gap.why },
        error: gap.why,
      }),
    );
  }
  return spans;
}

function interruptionEvents(facts: CallFacts, streamMs: number): SpanFacts['events'] {
  return facts.interruptions.map((one) => ({
    name: one.taken_back ? 'interruption taken back' : 'interruption',
    atMs: streamMs + one.at_ms,
    attributes: known({
      'offhook.interruption.silenced_ms':
        one.silenced_ms === null || one.onset_ms === null ? null : Math.round(one.silenced_ms - one.onset_ms),
    }),
  }));
}

/** The root first, a parent before its children. */
export function callSpans(facts: CallFacts): SpanFacts[] {
  const { call, toldAt } = facts;
  const root = rootOf(facts, Date.parse(call.created_at));
  const spans = [root];
  const rang = ms(call.started_at);
  const answered = ms(call.answered_at);
  if (rang !== null) spans.push(inner('ring', 0, rang, answered ?? root.endMs));
  if (answered !== null) {
    const streamMs = ms(call.stream_began_at);
    const talk = spans.length;
    spans.push(inner('talk', 0, answered, root.endMs));
    if (streamMs !== null) {
      const all = talkSpans(facts, talk, streamMs, root.endMs);
      const shown = all.slice(0, MOST_SPANS - spans.length - 1);
      if (shown.length < all.length) root.attributes['offhook.spans_left_out'] = all.length - shown.length;
      const own = spans[talk];
      if (own !== undefined) own.events = interruptionEvents(facts, streamMs);
      spans.push(...shown);
    }
  }
  const used = call.extraction_usage;
  if (used !== null && call.ended_at !== null) {
    spans.push(
      inner('model extraction', 0, root.endMs, Date.parse(toldAt), {
        kind: 'client',
        attributes: known({
          'gen_ai.operation.name': 'generate_content',
          'offhook.result.status': call.result_status,
          'gen_ai.usage.input_tokens': used.input_tokens,
          'gen_ai.usage.output_tokens': used.output_tokens,
        }),
        error: call.result_status === 'failed' ? 'failed' : null,
      }),
    );
  }
  return spans;
}
