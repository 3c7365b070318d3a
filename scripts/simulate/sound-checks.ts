// PURE. What must hold of the sound of a simulated call: who received what of it, whole and in order. Figures come from
// sound.ts; nothing is judged by eye.
import type { CallReport } from '../carrier-simulator/report.ts';
import { type Evidence, type SpokenItem, spokenOf, wordStretches } from './evidence.ts';
import { type Finding, found, plural, seconds, talks } from './finding.ts';
import { brokenLines, lostLines } from './gap-checks.ts';
import {
  bestPlace,
  compare,
  firstAudible,
  type Likeness,
  RATE_HZ,
  type Stretch,
  speechStretches,
} from './sound.ts';

/** Copies of speech through the telephone's coding reach 0.99; unrelated speech stays below 0.5. */
const LEAST_LIKENESS = 0.9;
/** Timestamps of the two ends of a line differ by buffers, never by more. */
const MOST_DRIFT_MS = 400;
/** Sound in the phone network's buffer and one mark's worth of sound are heard or not, and nobody can tell. */
const CUT_UNCERTAINTY_MS = 400;
/** Sound from before a turn that the model is given with it. */
const REPEATED_MS = 1000;
/** The faint beginning and end of speech, which nobody misses. */
const EDGE_MS = 60;
/** A line's last frame is filled up with silence. */
const PADDING_MS = 40;
/** Frames on their way when a call is hung up. */
const FRAMES_IN_FLIGHT = 50;
/** What a broken line had in hand and nobody has confirmed as heard is said again: one mark's worth, and what was on its way. */
const SAID_AGAIN_MS = 300;
/** What was cut sooner resembles too much to be found by itself; its length counts all the same. */
const LEAST_PART_MS = 500;
/** What is looked for of the sound on both sides of a break. */
const TEAR_NEEDLE_MS = 400;
const TEAR_ABOUT_MS = 1_500;
/** Of a recording whose process was killed, so much is not on the disk: it is written late, and a second at a time. */
const UNWRITTEN_MS = 3_200;
/** Holes in the agent's speech that a person does not notice. */
const UNNOTICED_HOLES_MS = 60;

const MS = RATE_HZ / 1000;
const figure = (value: number) => value.toFixed(3);
/** The least correlation that counts: the fixed one, or half way up from what meaningless sound reaches here. */
const neededFor = (likeness: Likeness) => Math.max(LEAST_LIKENESS, (1 + likeness.chance) / 2);
const holds = (likeness: Likeness) => likeness.found.length > 0 && likeness.weakest >= neededFor(likeness);
const described = (likeness: Likeness) =>
  `weakest of ${plural(likeness.found.length, 'piece')} ${figure(likeness.weakest)}, mean ${figure(likeness.mean)} ` +
  `(needed ${figure(neededFor(likeness))}; the same speech backwards ${figure(likeness.chance)})`;
const joined = (all: Likeness[]): Likeness => ({
  found: all.flatMap(({ found }) => found),
  weakest: all.length === 0 ? 0 : Math.min(...all.map(({ weakest }) => weakest)),
  mean: all.length === 0 ? 0 : all.reduce((sum, { mean }) => sum + mean, 0) / all.length,
  chance: Math.max(0, ...all.map(({ chance }) => chance)),
});

export function callerReachesModel({ scenario, sounds }: Evidence): Finding {
  if (scenario.speaks.length === 0 || scenario.expected.message) return null;
  if (sounds.modelReceived === null) return found(['the model received no sound'], '');
  const all: Likeness[] = [];
  let after = 0;
  let ordered = true;
  // A murmur is too short to be told from other sound; what was said is in the transcript.
  for (const spoken of scenario.speaks.filter(({ goOn }) => goOn !== true)) {
    const clip = sounds.clips[spoken.file];
    if (clip === undefined) return found([`${spoken.file} could not be read`], '');
    const stretches = wordStretches(spoken)
      .map(({ startMs, endMs }) => ({
        from: (startMs + EDGE_MS) * MS,
        to: Math.min((endMs - EDGE_MS) * MS, clip.length),
      }))
      .filter(({ from, to }) => to > from);
    const likeness = compare(clip, sounds.modelReceived, after - (stretches[0]?.from ?? 0), stretches);
    for (const { at, to, from } of likeness.found) {
      // Where the listener begins anew, what went just before comes twice.
      if (at < after - MS * REPEATED_MS) ordered = false;
      after = at + to - from;
    }
    all.push(likeness);
  }
  const whole = joined(all);
  return found(
    [
      !holds(whole) && `what was said and what the model received differ: ${described(whole)}`,
      !ordered && 'parts of it came in another order',
    ],
    `sound compared with what the model received: ${described(whole)}`,
  );
}

/** The part of an item's sound that should have been heard. */
function heardPart(item: SpokenItem, sent: Float32Array): Float32Array {
  const from = Math.round(item.fromMs * MS);
  const ms = item.cutMs === null ? item.ms : Math.max(0, item.cutMs);
  return sent.subarray(from, from + Math.round(ms * MS));
}

/** Where a line broke into the agent's voice: the part that was being heard, up to which sample, and where its rest lies. */
interface Tear {
  part: Float32Array;
  heardTo: number;
  shift: number;
}

/**
 * By the sound on both sides of each break, in the line that was being spoken and about there: who says a thing twice has it elsewhere
 * too. One that cannot be found is none.
 */
function tearsIn(
  phone: Float32Array,
  /** By the item's id. */
  parts: ReadonlyMap<string, Float32Array>,
  evidence: Evidence,
): Tear[] {
  const length = TEAR_NEEDLE_MS * MS;
  const spoken = brokenLines(evidence);
  return lostLines(evidence).flatMap(({ fromMs }, i) => {
    const { item, line } = spoken[i] ?? {};
    const part = item == null ? undefined : parts.get(item.id);
    const at = Math.round(fromMs * MS);
    const again = firstAudible(phone, at + PADDING_MS * MS);
    if (part === undefined || line == null || at < length || again === null) return [];
    const heardMs = fromMs - line.startMs;
    const from = Math.max(0, Math.round((heardMs - TEAR_ABOUT_MS) * MS));
    const about = part.subarray(from, Math.round((heardMs + TEAR_ABOUT_MS) * MS));
    const last = bestPlace(phone.subarray(at - length, at), about);
    const next = bestPlace(phone.subarray(again, again + length), about);
    if (Math.min(last.score, next.score) < LEAST_LIKENESS) return [];
    return [{ part, heardTo: from + last.at + length, shift: again - (from + next.at) }];
  });
}

/** What lies before a tear and what lies after it, each where it was heard. What is said again belongs to both. */
function sections(stretches: readonly Stretch[], shift: number, tears: readonly Tear[]) {
  const found: { shift: number; stretches: Stretch[] }[] = [];
  let from = 0;
  let at = shift;
  for (const tear of [...tears, null]) {
    const to = tear === null ? Number.POSITIVE_INFINITY : tear.heardTo - EDGE_MS * MS;
    const own = stretches
      .map((one) => ({ from: Math.max(one.from, from), to: Math.min(one.to, to) }))
      .filter((one) => one.to > one.from);
    if (own.length > 0) found.push({ shift: at, stretches: own });
    if (tear !== null) [from, at] = [to, tear.shift];
  }
  return found;
}

export function agentReachesCaller(evidence: Evidence): Finding {
  const { sounds, carrier, scenario, machineLateMs } = evidence;
  if (!talks(scenario)) return null;
  const { phone, modelSent } = sounds;
  if (phone === null || modelSent === null || carrier === null) {
    return found(['there is no sound of the agent'], '');
  }
  const items = spokenOf(evidence);
  const parts = new Map(items.map((item) => [item.id, heardPart(item, modelSent)]));
  const tears = tearsIn(phone.agent, parts, evidence);
  const all: Likeness[] = [];
  // A short first word is looked for about its place alone.
  let after = firstAudible(phone.agent, 0) ?? 0;
  let ordered = true;
  for (const part of parts.values()) {
    if (part.length < LEAST_PART_MS * MS) continue;
    const stretches = speechStretches(part, { leastMs: 200 });
    const torn = tears.filter((tear) => tear.part === part);
    for (const section of sections(stretches, after - (stretches[0]?.from ?? 0), torn)) {
      const likeness = compare(part, phone.agent, section.shift, section.stretches);
      for (const { at, from, to } of likeness.found) {
        if (at < after - MS * 40) ordered = false;
        after = at + to - from;
      }
      all.push(likeness);
    }
  }
  const whole = joined(all);
  const heardMs = items.reduce((sum, { ms, cutMs }) => sum + (cutMs ?? ms), 0);
  const cuts = items.filter(({ cutMs }) => cutMs !== null).length;
  const playedMs = carrier.streams.reduce((sum, { playedBytes }) => sum + playedBytes / 8, 0);
  const broken = scenario.expected.gaps;
  const mostMs = heardMs + items.length * PADDING_MS + cuts * CUT_UNCERTAINTY_MS + broken * SAID_AGAIN_MS;
  const holes = holesIn(carrier, items);
  const holesMs = holes.reduce((sum, { ms }) => sum + ms, 0);
  const excused = holesMs > UNNOTICED_HOLES_MS && holesMs <= UNNOTICED_HOLES_MS + machineLateMs;
  const holed = `${plural(holes.length, 'hole')} in it, ${Math.round(holesMs)} ms together`;
  return found(
    [
      items.length === 0 && 'the model said nothing',
      items.length > 0 &&
        !holds(excused ? { ...whole, weakest: whole.mean } : whole) &&
        `what the model said and what was heard differ: ${described(whole)}`,
      !ordered && 'parts of it were heard in another order',
      (playedMs < heardMs - PADDING_MS || playedMs > mostMs) &&
        `${seconds(playedMs)} were heard of ${seconds(heardMs)}`,
      holesMs > UNNOTICED_HOLES_MS && !excused && holed,
    ],
    `${seconds(playedMs)} heard of ${seconds(heardMs)} meant to be: ${described(whole)}` +
      (excused ? `; ${holed}: this machine is busy, and was late by ${seconds(machineLateMs)} itself` : ''),
  );
}

/** Where the line fell silent within what the model said: between two of its items it may. */
function holesIn({ streams }: CallReport, items: readonly SpokenItem[]) {
  const ends: { fromMs: number; toMs: number }[] = [];
  // What a broken line had in hand comes again on the next.
  const broken = streams.filter(({ end }) => end?.by === 'error').length;
  let [leastMs, mostMs] = [0, broken * SAID_AGAIN_MS];
  for (const { ms, cutMs } of items) {
    leastMs += cutMs ?? ms;
    mostMs += (cutMs ?? ms) + PADDING_MS + (cutMs === null ? 0 : CUT_UNCERTAINTY_MS);
    ends.push({ fromMs: leastMs - PADDING_MS, toMs: mostMs });
  }
  let before = 0;
  return streams.flatMap(({ gaps, playedBytes }) => {
    const own = gaps.map((gap) => ({ ...gap, playedMs: (before + gap.atBytes) / MS }));
    before += playedBytes;
    return own.filter(
      ({ playedMs }) => !ends.some(({ fromMs, toMs }) => playedMs >= fromMs && playedMs <= toMs),
    );
  });
}

export function recordingAgrees(evidence: Evidence): Finding {
  const { sounds, scenario, carrier } = evidence;
  if (!talks(scenario)) return null;
  const { phone, recording } = sounds;
  if (phone === null) return found(['the phone network has no recording'], '');
  if (recording === null) return found(['the daemon made no recording'], '');
  const problems: string[] = [];
  const shifts: number[] = [];
  const told: string[] = [];
  const unwritten = unwrittenOf(evidence);
  const holed = carrier !== null && holesIn(carrier, spokenOf(evidence)).length > 0;
  for (const voice of ['caller', 'agent'] as const) {
    const stretches = speechStretches(phone[voice], { leastMs: 200 }).filter(
      ({ from, to }) => to <= unwritten.from || from >= unwritten.to,
    );
    if (stretches.length === 0) continue;
    const likeness = compare(phone[voice], recording[voice], 0, stretches);
    const who = voice === 'caller' ? 'person' : 'agent';
    // Marks stand a tenth of a second apart: where between two of them the line fell silent for a moment, nobody is told.
    const like = voice === 'agent' && holed ? { ...likeness, weakest: likeness.mean } : likeness;
    if (!holds(like)) problems.push(`the ${who}'s channel differs: ${described(likeness)}`);
    told.push(`${who} ${figure(likeness.weakest)}`);
    // What is not there has no place: the best of what resembles it may lie anywhere.
    const there = likeness.found.filter(({ score }) => score >= LEAST_LIKENESS);
    shifts.push(...there.map(({ at, from }) => (at - from) / MS));
  }
  const drift = shifts.length === 0 ? 0 : Math.max(...shifts) - Math.min(...shifts);
  if (shifts.length === 0) problems.push('nobody speaks in it');
  if (drift > MOST_DRIFT_MS) {
    problems.push(`the voices lie ${Math.round(drift)} ms apart from where they were`);
  }
  return found(
    problems,
    `correlation ${told.join(', ')}; no sound more than ${Math.round(drift)} ms off its place`,
  );
}

/** What of the recording was not written when its process was killed, in samples since the answer. */
function unwrittenOf({ killed, carrier }: Evidence): { from: number; to: number } {
  if (killed === null || carrier === null) return { from: Number.POSITIVE_INFINITY, to: 0 };
  const killedMs = killed.atMs - Date.parse(carrier.createdAt) - (carrier.answeredAtMs ?? 0);
  return { from: (killedMs - UNWRITTEN_MS) * MS, to: killedMs * MS };
}

export function framesComplete({ carrier, media, scenario }: Evidence): Finding {
  if (!talks(scenario)) return null;
  if (carrier === null || media === null) return found(['the daemon told no counts'], '');
  // The counts of a process that was killed are gone with it.
  const counted = scenario.expected.killed ? carrier.streams.slice(1) : carrier.streams;
  const sent = counted.reduce((sum, stream) => sum + stream.sent.media, 0);
  const lost = carrier.streams.reduce((sum, stream) => sum + stream.sent.lost, 0);
  return found(
    [
      lost > 0 && `the line lost ${lost} on the way in`,
      (media.framesIn > sent || media.framesIn < sent - FRAMES_IN_FLIGHT) &&
        `${sent} were sent and ${media.framesIn} arrived`,
      media.malformedMessages > 0 && `${media.malformedMessages} messages could not be read`,
      media.lateFrames > 0 && `${media.lateFrames} came too late`,
      media.recordingDropped > 0 && `${media.recordingDropped} are missing in the recording`,
      carrier.clippedSamples > 0 && `${plural(carrier.clippedSamples, 'sample')} overdriven`,
    ],
    `${media.framesIn} of 20 ms in, ${media.framesOut} out`,
  );
}
