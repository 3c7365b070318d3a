// PURE. Voices that mean nobody: a television and the babble of six people, from the answer's second second on, below the
// caller's own level. Whether they stop the agent, and whether the caller still does.
import type { Random } from '../../random.ts';
import { atLevel, type Clip } from '../labels.ts';
import type { Recordings } from '../recorded.ts';
import {
  addTo,
  atRms,
  between,
  joined,
  music,
  pick,
  type Sound,
  samplesOf,
  scaled,
  silent,
} from '../sounds.ts';
import {
  atSampleMs,
  byShade,
  callOf,
  countRow,
  drawsOf,
  FRAME_MS,
  type Held,
  idleLine,
  type Placed,
  silentFrames,
  some,
  type Theme,
  type ThemeTalk,
} from './theme.ts';

const CALLER_DB = -25;
const BELOW_DB = [-3, -6, -9, -12];
const BED_MS = 12_000;
const FIRST_WORDS_MS = 2_500;
/** From the end of the first words to the bed: the answer runs by then. */
const BED_AFTER_MS = 2_200;
const OVER_THE_BED = 'over it';

/** One after the other, hardly a pause between them. */
function chatter(ms: number, clips: readonly Clip[], random: Random): Sound {
  const out = silent(ms);
  for (let at = 0; at < out.length; at += samplesOf(between(60, 450, random))) {
    const clip = pick(clips, random);
    addTo(out, atLevel(clip, -28), at);
    at += clip.sound.length;
  }
  return out;
}

const BEDS: Readonly<Record<string, (ms: number, clips: readonly Clip[], random: Random) => Sound>> = {
  television(ms, clips, random) {
    const speaker = pick(clips, random).voice;
    const own = clips.filter(({ voice }) => voice === speaker);
    const sound = chatter(ms, own, random);
    addTo(sound, atRms(music(ms, random), -38), 0);
    return sound;
  },
  babble(ms, clips, random) {
    const sound = silent(ms);
    for (let voice = 0; voice < 6; voice++)
      addTo(sound, scaled(chatter(ms, clips, random), between(0.6, 1, random)), 0);
    return sound;
  },
};

/** First words on a quiet line, a long answer, and the bed under it; `words`: said again over it. */
function bedCall(
  recordings: Recordings,
  o: { bed: string; belowDb: number; round: number; over: boolean },
): ThemeTalk {
  const name = `bed ${o.bed} ${o.belowDb} ${o.round} ${o.over}`;
  const random = drawsOf(recordings, name);
  const callers = recordings.sentences.filter(
    ({ sound }) => sound.length >= samplesOf(1_200) && sound.length <= samplesOf(4_000),
  );
  const clip = pick(callers, random);
  const others = recordings.sentences.filter(({ voice }) => voice !== clip.voice);
  const firstToMs = FIRST_WORDS_MS + clip.sound.length / 8;
  const bedFromMs = firstToMs + BED_AFTER_MS;
  const said: Placed[] = [{ clip, levelDb: CALLER_DB, atMs: atSampleMs(FIRST_WORDS_MS) }];
  if (o.over) {
    const mine = callers.filter(({ voice }) => voice === clip.voice);
    said.push({ clip: pick(mine, random), levelDb: CALLER_DB, atMs: atSampleMs(bedFromMs + 5_000) });
  }
  return callOf(recordings, random, {
    name,
    shade: o.over ? OVER_THE_BED : o.bed,
    lengthMs: bedFromMs + BED_MS,
    greetingMs: 600,
    answerMs: BED_AFTER_MS + BED_MS + 3_000,
    said,
    line: (ms) => {
      const bed = BEDS[o.bed]!(BED_MS, others.length > 0 ? others : callers, random);
      const line = idleLine(ms, random);
      addTo(line, joined(silent(bedFromMs), atRms(bed, CALLER_DB + o.belowDb)), 0);
      return line;
    },
  });
}

const bedFromMs = ({ talk }: Held) => talk.spoken[0]!.toMs + BED_AFTER_MS;

/** Barge-ins from the bed's beginning on. */
const stops = (one: Held) => one.outcome.bargeIns.filter((atMs) => atMs >= bedFromMs(one));

export const beds: Theme = {
  title: 'Television and babble',
  talks(recordings, size) {
    const kinds = Object.keys(BEDS).flatMap((bed) => BELOW_DB.map((belowDb) => ({ bed, belowDb })));
    return [
      ...[0, 1, 2]
        .slice(0, size >= 1 ? 3 : 1)
        .flatMap((round) => some(kinds, kinds.length, size).map((kind) => ({ ...kind, round, over: false }))),
      ...some(kinds, kinds.length, size).map((kind) => ({ ...kind, round: 0, over: true })),
    ].map((o) => bedCall(recordings, o));
  },
  rows(held) {
    const alone = held.filter(({ talk }) => talk.shade !== OVER_THE_BED);
    const over = held.filter(({ talk }) => talk.shade === OVER_THE_BED);
    const stopped = (list: readonly Held[]) => list.filter((one) => stops(one).length > 0).length;
    const silentShare = (list: readonly Held[]) => {
      const silentMs = list.reduce(
        (sum, one) => sum + silentFrames(one.outcome, bedFromMs(one), bedFromMs(one) + BED_MS) * FRAME_MS,
        0,
      );
      return list.length === 0 ? '–' : `${((100 * silentMs) / (list.length * BED_MS)).toFixed(0)} %`;
    };
    // Where the bed has not stopped it before.
    const spokenOver = over.filter((one) => stops(one).every((atMs) => atMs >= one.talk.spoken[1]!.fromMs));
    const heeded = spokenOver.filter((one) =>
      stops(one).some((atMs) => atMs <= one.talk.spoken[1]!.toMs + 1_000),
    );
    return [
      countRow('stopped by television or babble, 12 s of call', stopped(alone), alone.length, { under: 10 }),
      ...[...byShade(alone)].map(([shade, list]) => countRow(`  ${shade}`, stopped(list), list.length)),
      { measure: '  the agent not heard meanwhile', values: [silentShare(alone)], target: '', met: null },
      countRow('  the caller over it, not heeded', spokenOver.length - heeded.length, spokenOver.length),
    ];
  },
};
