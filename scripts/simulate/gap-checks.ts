// PURE. What must hold of a simulated call whose line broke: it came back soon, the agent went on at the last heard word, and
// nothing was lost but what was said into the gap.
import type { Violation } from '../carrier-simulator/stream-report.ts';
import { type Evidence, pairLines, spokenOf, streamOffsetMs } from './evidence.ts';
import { type Finding, found, plural } from './finding.ts';
import { firstAudible, RATE_HZ } from './sound.ts';

/** Nobody waits longer before he says "hello?". */
const MOST_SILENCE_MS = 1_000;
/** And what a busy machine adds by itself. */
const MOST_LATE_MS = 1_000;
/** What both sides say of a gap differs by what was on its way. */
const TOLD_APART_MS = 400;
/** Heard twice: from the last mark that came back, a tenth of a second apart, to the break. */
const MOST_AGAIN_MS = 300;
const PADDING_MS = 40;
/** A frame from before the break may be written down after it. */
const LAST_FRAMES_MS = 40;
/** A mean pause between two words; the voice may just have made one. */
const PAUSE_MS = 400;

/** The phone network's word for a media connection that broke. */
export const isLostLine = ({ code }: Pick<Violation, 'code'>): boolean => code === 31921;

/** A time without a line, as the phone network has it: ms since the answer. */
export interface LostLine {
  fromMs: number;
  /** When the next stream began; null: none did. */
  toMs: number | null;
  /** The agent's sound that the phone network had and had not played. */
  unheardMs: number;
}

/** Where the line broke, in order. */
export function lostLines({ carrier }: Pick<Evidence, 'carrier'>): LostLine[] {
  const { streams = [], answeredAtMs } = carrier ?? {};
  const zeroMs = answeredAtMs ?? 0;
  return streams.flatMap(({ end, endedMs, received, playedBytes, clears }, i) => {
    if (end?.by !== 'error' || endedMs === null) return [];
    const dropped = clears.reduce((sum, { droppedBytes }) => sum + droppedBytes, 0);
    const next = streams[i + 1]?.startedMs ?? null;
    return [
      {
        fromMs: endedMs - zeroMs,
        toMs: next === null ? null : next - zeroMs,
        unheardMs: (received.bytes - playedBytes - dropped) / 8,
      },
    ];
  });
}

/** For how long nothing of the agent was heard from a moment on, in the sound of the phone; null: for good. */
export function silenceFrom(agent: Float32Array, fromMs: number): number | null {
  const from = (fromMs * RATE_HZ) / 1000;
  const at = firstAudible(agent, from + (LAST_FRAMES_MS * RATE_HZ) / 1000);
  return at === null ? null : ((at - from) * 1000) / RATE_HZ;
}

/** The line broke as often as it was to, and was back each time; the daemon tells the same. */
export function lineCameBack(evidence: Evidence): Finding {
  const { scenario, call, carrier, sounds, sessions, machineLateMs } = evidence;
  const wanted = scenario.expected.gaps;
  if (wanted === 0 || scenario.expected.killed) return null;
  const lost = lostLines(evidence);
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  const silences = lost.map(({ fromMs }) =>
    sounds.phone === null ? null : silenceFrom(sounds.phone.agent, fromMs),
  );
  const problems: (string | false)[] = [
    lost.length !== wanted && `the line broke ${plural(lost.length, 'time')}, not ${wanted}`,
    call.gaps.length !== wanted && `the call has ${plural(call.gaps.length, 'gap')}, not ${wanted}`,
    sessions.length > 1 && 'the model was asked anew',
  ];
  for (const [i, { fromMs, toMs, unheardMs }] of lost.entries()) {
    const gap = call.gaps[i];
    const silentMs = silences[i] ?? null;
    problems.push(
      toMs === null && 'it never came back',
      unheardMs <= 0 && 'it broke while the agent was not speaking',
      toMs !== null &&
        (silentMs === null || silentMs > MOST_SILENCE_MS + Math.min(machineLateMs, MOST_LATE_MS)) &&
        `nothing was heard for ${silentMs === null ? 'the rest of the call' : `${Math.round(silentMs)} ms`}`,
      gap !== undefined && gap.why !== 'stream_lost' && `the daemon says it was ${gap.why}`,
      gap !== undefined &&
        Math.abs(gap.from_ms + offsetMs - fromMs) > TOLD_APART_MS &&
        `the daemon says it broke ${Math.round(gap.from_ms + offsetMs - fromMs)} ms from when it did`,
      gap !== undefined &&
        toMs !== null &&
        (gap.to_ms === null || Math.abs(gap.to_ms + offsetMs - toMs) > TOLD_APART_MS) &&
        `the daemon says it was back at ${gap.to_ms} ms, and it was at ${Math.round(toMs - offsetMs)} ms`,
    );
  }
  const told = lost.map(
    ({ fromMs, toMs }, i) =>
      `gone for ${Math.round((toMs ?? fromMs) - fromMs)} ms, the agent heard again after ${Math.round(silences[i] ?? 0)} ms`,
  );
  return found(problems, told.join('; '));
}

/** The agent's line that each break was in, with when it began, ms since the answer; undefined where it was in none. */
export function brokenLines(evidence: Evidence) {
  const { carrier, transcript } = evidence;
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  const pairs = pairLines(transcript.data, spokenOf(evidence)).map(({ line, item }) => ({
    item,
    line:
      line === null
        ? null
        : { ...line, startMs: line.start_ms + offsetMs, endMs: (line.end_ms ?? line.start_ms) + offsetMs },
  }));
  return lostLines(evidence).map(({ fromMs }) =>
    pairs.find(
      ({ line }) => line !== null && line.startMs - PAUSE_MS <= fromMs && fromMs <= line.endMs + PAUSE_MS,
    ),
  );
}

/** The lines that were being spoken were neither cut nor begun anew. What of them was heard is compared as sound elsewhere. */
export function wentOnWhereHeard(evidence: Evidence): Finding {
  const { scenario, carrier } = evidence;
  if (scenario.expected.gaps === 0 || scenario.expected.killed) return null;
  if (carrier === null) return found(['the call never reached the phone network'], '');
  const lost = lostLines(evidence);
  const spoken = brokenLines(evidence);
  const items = spokenOf(evidence);
  const meantMs = items.reduce((sum, { ms, cutMs }) => sum + (cutMs ?? ms), 0);
  const playedMs = carrier.streams.reduce((sum, { playedBytes }) => sum + playedBytes / 8, 0);
  const againMs = playedMs - meantMs;
  const mostMs = lost.length * MOST_AGAIN_MS + items.length * PADDING_MS + cutsOf(items) * MOST_AGAIN_MS;
  return found(
    [
      spoken.includes(undefined) && 'a break was in no line of the agent',
      ...spoken.map((pair) => {
        const line = pair?.line;
        return (
          line != null &&
          (line.interrupted || line.heard_text !== line.text) &&
          `of "${line.text.slice(0, 40)}" only "${line.heard_text.slice(-40)}" counts as heard`
        );
      }),
      againMs < -PADDING_MS && `${Math.round(-againMs)} ms of the agent were never heard`,
      againMs > mostMs && `${Math.round(againMs)} ms of the agent were heard twice`,
    ],
    `${plural(spoken.length, 'line')} broken and spoken to the end, ${Math.max(0, Math.round(againMs))} ms more heard than said`,
  );
}

const cutsOf = (items: readonly { cutMs: number | null }[]) =>
  items.filter(({ cutMs }) => cutMs !== null).length;
