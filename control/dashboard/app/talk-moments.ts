// PURE. What happened over the agent's voice on a call, and what of its answers nobody heard, in order of time: from the turns,
// the interruptions, the gaps and the words, which the API gives apart. And who spoke when, for the picture of it.
import type { CallGap, Interruption, TranscriptItem, Turn } from '../../sdk/index.ts';
import { gapCause, gapLabel } from './call-gaps.ts';
import { counted, latency } from './format.ts';

export interface TalkMoment {
  id: string;
  /** `stopped`: an interruption. `passed`: a sound that was none. `thrown`: answers begun in a pause, and thrown away. `gap`: no sound either way. */
  kind: 'stopped' | 'passed' | 'thrown' | 'gap';
  /** When the sound began; of answers thrown away, the end of the turn in whose pauses they were begun. */
  atMs: number;
  /** When the agent's voice was lowered, paused, and as before or over; null: it was not. */
  loweredMs: number | null;
  pausedMs: number | null;
  untilMs: number;
  /** What was done to the voice, or how many answers. */
  what: string;
  /** The words of the sound, where it had some. */
  said: string | null;
}

/** A line and a sound are one where they began together: a line's times are rounded. */
const TOGETHER_MS = 120;

const together = (one: number | null, other: number | null) =>
  one !== null && other !== null && Math.abs(one - other) <= TOGETHER_MS;

/** All of them. A short word that was let pass, and stopped the agent when its words had come, is one. */
export function talkMoments(o: {
  turns: readonly Turn[];
  interruptions: readonly Interruption[];
  words: readonly TranscriptItem[];
  gaps: readonly CallGap[];
  /** The call has ended: a gap that is open then stays so. */
  over: boolean;
}): TalkMoment[] {
  const { turns, interruptions, words, gaps, over } = o;
  const passed = interruptions.filter(({ taken_back }) => taken_back);
  const stops = interruptions.filter(({ taken_back }) => !taken_back);
  const before = (stop: Interruption) =>
    stop.held_ms === null ? passed.find(({ onset_ms }) => together(onset_ms, stop.onset_ms)) : undefined;
  const merged = new Set(stops.flatMap((stop) => before(stop) ?? []));
  return [
    ...passed.filter((one) => !merged.has(one)).map((one) => passedMoment(one, words)),
    ...stops.map((one) => stoppedMoment(one, before(one), words)),
    ...turns.filter(({ thrown_away }) => thrown_away > 0).map(thrownMoment),
    ...gaps.map((gap) => gapMoment(gap, over)),
  ].sort((a, b) => a.atMs - b.atMs);
}

function saidAt(onsetMs: number | null, words: readonly TranscriptItem[]): string | null {
  const line = words.find(({ role, start_ms }) => role === 'caller' && together(start_ms, onsetMs));
  return line === undefined || line.text === '' ? null : line.text;
}

/** When the voice was only lowered; null: it was paused from the first moment on, or not held at all. */
const loweredAt = ({ held_ms, paused_ms }: Interruption) => (held_ms === paused_ms ? null : held_ms);

const passedFor = (one: Interruption) => {
  const lowMs = loweredAt(one);
  return [
    lowMs === null ? [] : `lowered for ${latency(Math.max(0, (one.paused_ms ?? one.at_ms) - lowMs))}`,
    one.paused_ms === null ? [] : `paused for ${latency(Math.max(0, one.at_ms - one.paused_ms))}`,
  ].flat();
};

function passedMoment(one: Interruption, words: readonly TranscriptItem[]): TalkMoment {
  const { id, at_ms, onset_ms, held_ms, paused_ms } = one;
  return {
    id,
    kind: 'passed',
    atMs: onset_ms ?? held_ms ?? at_ms,
    loweredMs: loweredAt(one),
    pausedMs: paused_ms,
    untilMs: at_ms,
    what: [...passedFor(one), 'then went on'].join(', '),
    said: saidAt(onset_ms, words),
  };
}

/** @param before the same sound as it was let pass, where its words decided */
function stoppedMoment(
  one: Interruption,
  before: Interruption | undefined,
  words: readonly TranscriptItem[],
): TalkMoment {
  const { id, at_ms, onset_ms, held_ms, paused_ms } = one;
  const untilMs = one.silenced_ms ?? at_ms;
  const atMs = onset_ms ?? held_ms ?? at_ms;
  const after = (what: string, ms: number | null) =>
    ms === null || onset_ms === null ? [] : `${what} after ${latency(Math.max(0, ms - atMs))}`;
  const held =
    before === undefined
      ? [after('lowered', loweredAt(one)), after('paused', paused_ms)].flat()
      : passedFor(before);
  const silent = after(before === undefined ? 'silent' : 'stopped by its words, silent', untilMs);
  return {
    id,
    kind: 'stopped',
    atMs,
    loweredMs: loweredAt(before ?? one),
    pausedMs: (before ?? one).paused_ms,
    untilMs: before?.at_ms ?? untilMs,
    what: [...held, silent].flat().join(', ') || 'cut short',
    said: saidAt(onset_ms, words),
  };
}

function thrownMoment({ id, thrown_away, speech_end_ms, decided_ms }: Turn): TalkMoment {
  const atMs = speech_end_ms ?? decided_ms;
  return {
    id,
    kind: 'thrown',
    atMs,
    loweredMs: null,
    pausedMs: null,
    untilMs: atMs,
    what: `${counted(thrown_away, 'answer')} begun in a pause of this turn, never heard`,
    said: null,
  };
}

function gapMoment(gap: CallGap, over: boolean): TalkMoment {
  const { from_ms, to_ms } = gap;
  return {
    id: `gap ${from_ms}`,
    kind: 'gap',
    atMs: from_ms,
    loweredMs: null,
    pausedMs: null,
    untilMs: to_ms ?? from_ms,
    what: `${gapCause(gap)}. ${gapLabel(gap, over)}`,
    said: null,
  };
}

/** A stretch of a lane, in per cent of its width. */
export interface Stretch {
  key: string;
  /** The style it has: `spoken`, `lowered`, `paused`, or the kind of a moment. */
  is: string;
  left: number;
  width: number;
  title: string;
}

/** Who spoke when: a lane for each side, the agent's with what was done to its voice, and marks of the moments. */
export function talkLanes(o: {
  words: readonly TranscriptItem[];
  moments: readonly TalkMoment[];
  gaps: readonly CallGap[];
  lengthMs: number;
}): { caller: Stretch[]; agent: Stretch[]; marks: Stretch[] } {
  const percent = (ms: number) => (Math.min(o.lengthMs, Math.max(0, ms)) / Math.max(1, o.lengthMs)) * 100;
  const stretch = (key: string, is: string, fromMs: number, toMs: number, title: string): Stretch => ({
    key,
    is,
    left: percent(fromMs),
    width: percent(toMs) - percent(fromMs),
    title,
  });
  const spoken = (role: 'caller' | 'agent') =>
    o.words
      .filter(
        (line) => line.role === role && (role === 'caller' || line.heard_text !== '' || line.end_ms === null),
      )
      .map((line) =>
        stretch(line.id, 'spoken', line.start_ms, line.end_ms ?? o.lengthMs, line.heard_text || line.text),
      );
  const held = o.moments.flatMap(({ id, loweredMs, pausedMs, untilMs }) => [
    ...(loweredMs === null
      ? []
      : [stretch(`${id} low`, 'lowered', loweredMs, pausedMs ?? untilMs, 'voice lowered')]),
    ...(pausedMs === null || untilMs <= pausedMs
      ? []
      : [stretch(`${id} paused`, 'paused', pausedMs, untilMs, 'voice paused')]),
  ]);
  // Neither side heard the other: over both lanes, one that is open to their end.
  const gaps = o.gaps.map(({ from_ms, to_ms }) =>
    stretch(`gap ${from_ms}`, 'gap', from_ms, to_ms ?? o.lengthMs, 'no sound'),
  );
  const marks = o.moments.map(({ id, kind, atMs, what, said }) =>
    stretch(id, kind, atMs, atMs, said === null ? what : `“${said.slice(0, 60)}”: ${what}`),
  );
  return {
    caller: [...spoken('caller'), ...gaps],
    agent: [...spoken('agent'), ...held, ...gaps],
    marks,
  };
}
