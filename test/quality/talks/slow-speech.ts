// PURE. Turns that go on after a pause: digits one by one and in groups, after a question for a number; and an "uhm" drawn out
// with a pause behind it.
import { clipOf } from '../labels.ts';
import type { Recordings } from '../recorded.ts';
import { between, pick, samplesOf, uhm } from '../sounds.ts';
import {
  answersOf,
  atSampleMs,
  byShade,
  callOf,
  countRow,
  drawsOf,
  FRAME_MS,
  type Held,
  type Placed,
  some,
  type Theme,
  type ThemeTalk,
} from './theme.ts';

const QUESTIONS = [
  'What is your phone number?',
  'Could you give me your customer number, please?',
  'And what is the number on the card?',
];
const FROM_MS = 2_500;
const HESITATION = 'hesitation';
const HESITATION_MS = 700;
/** How digits are told: so many together, gaps within and between groups. */
const TELLINGS = [
  { shade: 'digits one by one, gaps of 550 to 700 ms', group: 1, gapMs: [550, 700] },
  { shade: 'digits one by one, gaps of 700 to 900 ms', group: 1, gapMs: [700, 900] },
  { shade: 'groups of three, gaps of 700 ms', group: 3, gapMs: [690, 710] },
] as const;
const WITHIN_MS = [60, 140] as const;

function dictation(recordings: Recordings, telling: (typeof TELLINGS)[number], round: number): ThemeTalk {
  const { shade, group, gapMs } = telling;
  const name = `dictation ${shade} ${round}`;
  const random = drawsOf(recordings, name);
  const voice = recordings.digits[round % recordings.digits.length]!;
  const said: Placed[] = [];
  let atMs = FROM_MS;
  const count = group === 1 ? 6 : 9;
  for (let i = 0; i < count; i++) {
    const clip = pick(voice, random);
    said.push({ clip, levelDb: -25, atMs: atSampleMs(atMs) });
    const [low, high] = (i + 1) % group === 0 ? gapMs : WITHIN_MS;
    atMs += clip.sound.length / 8 + between(low, high, random);
  }
  return callOf(recordings, random, {
    name,
    shade,
    lengthMs: atMs + 3_500,
    greetingMs: 600,
    said,
    texts: { greeting: pick(QUESTIONS, random) },
  });
}

function hesitation(recordings: Recordings, round: number): ThemeTalk {
  const name = `hesitation ${round}`;
  const random = drawsOf(recordings, name);
  const parts = recordings.sentences.filter(
    ({ sound, spans }) => sound.length <= samplesOf(4_000) && spans.length === 1,
  );
  const first = pick(parts, random);
  const same = parts.filter(({ voice }) => voice === first.voice);
  const second = pick(same, random);
  const sound = clipOf('uhm', uhm(between(350, 750, random), random));
  const [gapMs, firstToMs] = [between(90, 200, random), FROM_MS + first.sound.length / 8];
  const uhmMs = atSampleMs(firstToMs + gapMs);
  const goesOnMs = atSampleMs(uhmMs + (sound?.sound.length ?? 0) / 8 + HESITATION_MS);
  return callOf(recordings, random, {
    name,
    shade: HESITATION,
    lengthMs: goesOnMs + second.sound.length / 8 + 3_000,
    greetingMs: 600,
    said: [
      { clip: first, levelDb: -25, atMs: FROM_MS },
      ...(sound === null ? [] : [{ clip: { ...sound, text: 'uhm' }, levelDb: -28, atMs: uhmMs }]),
      { clip: second, levelDb: -25, atMs: goesOnMs },
    ],
  });
}

/** Where its turn goes from and to. */
const turnOf = ({ talk }: Held) => [talk.spoken[0]!.fromMs, talk.spoken.at(-1)!.toMs] as const;

/** An answer was asked for inside the turn, and the rest reached the model as another turn. */
function isCut(one: Held): boolean {
  const [fromMs, toMs] = turnOf(one);
  return answersOf(one).some((atMs) => atMs > fromMs && atMs < toMs);
}

function isCutAudibly(one: Held): boolean {
  const [fromMs, toMs] = turnOf(one);
  return one.outcome.audible.some((atMs) => atMs > fromMs && atMs + FRAME_MS < toMs);
}

export const slowSpeech: Theme = {
  title: 'Dictation and hesitation',
  talks(recordings, size) {
    const rounds = some(
      Array.from({ length: 12 }, (_, i) => i),
      12,
      size,
    );
    return [
      ...(recordings.digits.length === 0
        ? []
        : TELLINGS.flatMap((telling) => rounds.map((round) => dictation(recordings, telling, round)))),
      ...some(
        Array.from({ length: 24 }, (_, i) => i),
        24,
        size,
      ).map((round) => hesitation(recordings, round)),
    ];
  },
  rows(held) {
    const cuts = (list: readonly Held[]) => list.filter(isCut).length;
    const heard = (list: readonly Held[]) => `(${list.filter(isCutAudibly).length})`;
    const told = held.filter(({ talk }) => talk.shade !== HESITATION);
    const hesitant = held.filter(({ talk }) => talk.shade === HESITATION);
    const row = (measure: string, list: readonly Held[], target?: { under: number }) => {
      const one = countRow(`${measure} (answer heard)`, cuts(list), list.length, target);
      return { ...one, values: [list.length === 0 ? '–' : `${one.values[0]} ${heard(list)}`] };
    };
    return [
      row('dictation cut, gaps up to 900 ms', told, { under: 5 }),
      ...[...byShade(told)].map(([shade, list]) => row(`  ${shade}`, list)),
      row('cut in a hesitation of 700 ms', hesitant, { under: 20 }),
    ];
  },
};
