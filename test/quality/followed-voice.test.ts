// The agent's words followed through a line, and a model that takes its time: held against what is known.
import t from 'tap';
import { throughMulaw } from '../audio/fixtures.ts';
import { seeded } from '../random.ts';
import { FollowedVoice, itemOf, lostAndRepeated, NOTHING, sampleOf, UNKNOWN } from './followed-voice.ts';
import { createPacedModel } from './paced-model.ts';
import { atRms, toPcm, white } from './sounds.ts';

const FRAME = 160;

/** Sound that is like itself at one place only, as loud as an agent. */
const voice = (ms: number, seed: number) => throughMulaw(toPcm(atRms(white(ms, seeded(seed)), -20)));

function follow(...plays: (readonly [Int16Array, number, number, number?] | number)[]) {
  const followed = new FollowedVoice();
  const items = new Set<Int16Array>();
  for (const play of plays) {
    if (typeof play === 'number') {
      for (let i = 0; i < play; i++) followed.plays(null);
      continue;
    }
    const [sound, from, to, gain = 1] = play;
    if (!items.has(sound)) followed.sends(sound);
    items.add(sound);
    for (let frame = from; frame < to; frame++)
      followed.plays(
        throughMulaw(
          sound.slice(frame * FRAME, (frame + 1) * FRAME).map((sample) => Math.round(sample * gain)),
        ),
      );
  }
  return followed.played;
}

t.test('the agent’s words: ducked and paused none is lost', async (t) => {
  const greeting = voice(2_000, 1);
  const played = follow([greeting, 0, 20], [greeting, 20, 40, 0.25], 10, [greeting, 40, 90]);
  t.same(lostAndRepeated(played, 0), { lostMs: 0, repeatedMs: 0 });
  t.equal(played.places.length, 100);
  t.ok(Math.abs(played.gainsDb[5]!) < 0.1, `${played.gainsDb[5]}`);
  t.ok(Math.abs(played.gainsDb[30]! + 12) < 0.3, `${played.gainsDb[30]}`);
  t.equal(played.places[45], NOTHING);
  t.equal(sampleOf(played.places[50]!), 40 * FRAME);
});

t.test('… left out, played again, of the next item: counted to the sample', async (t) => {
  const [greeting, answer] = [voice(2_000, 1), voice(1_000, 2)];
  const played = follow([greeting, 0, 20], [greeting, 23, 50], [greeting, 48, 60], [answer, 0, 10]);
  t.same(lostAndRepeated(played, 0), { lostMs: 60, repeatedMs: 40 });
  t.same(lostAndRepeated(played, 1), { lostMs: 0, repeatedMs: 0 });
  t.equal(itemOf(played.places.at(-1)!), 1);
  const foreign = new FollowedVoice();
  foreign.sends(greeting);
  foreign.plays(voice(20, 9));
  t.equal(foreign.played.places[0], UNKNOWN);
});

/** What a model told, with the moments of it. */
function pacedModel(tempo: { seed: number; firstMs: readonly [number, number] } | null) {
  let now = 0;
  const told: { atMs: number; what: string; bytes?: number }[] = [];
  const tell =
    (what: string) =>
    (...args: unknown[]) => {
      const sound = args.find((arg) => Buffer.isBuffer(arg));
      told.push({ atMs: now, what, ...(sound !== undefined && { bytes: (sound as Buffer).length }) });
    };
  const nothing = () => {};
  const model = createPacedModel(
    {
      ready: nothing,
      audio: tell('audio'),
      audioDone: tell('audio done'),
      text: nothing,
      textDone: nothing,
      callerText: tell('words'),
      callerSpeech: nothing,
      toolCall: nothing,
      requested: nothing,
      responseDone: ({ status }) => tell(status)(),
      usage: nothing,
      reconnecting: nothing,
      failed: nothing,
    },
    {
      now: () => now,
      heardBytes: () => 8_000,
      answer: () => ({ sound: new Uint8Array(24_000), text: 'words' }),
      tempo,
      misheard: (words) => words,
      wordsIn: () => 'words',
      transcribes: false,
    },
  );
  return {
    model,
    told,
    until(ms: number) {
      for (; now <= ms; now += 20) model.flush();
    },
  };
}

t.test(
  'a model that takes its time: nothing before it, then in pieces, faster than it is spoken',
  async (t) => {
    const { model, told, until } = pacedModel({ seed: 3, firstMs: [500, 500] });
    model.respond();
    t.ok(model.busy());
    until(480);
    t.same(told, []);
    until(4_000);
    t.equal(told[0]!.atMs, 500);
    const pieces = told.filter(({ what }) => what === 'audio');
    t.equal(
      pieces.reduce((sum, { bytes = 0 }) => sum + bytes, 0),
      24_000,
    );
    t.ok(pieces.length >= 10, `${pieces.length} pieces`);
    t.ok(pieces.at(-1)!.atMs - 500 < 3_000, 'sooner than it is spoken');
    t.same(
      told.slice(-2).map(({ what }) => what),
      ['audio done', 'completed'],
    );
    t.notOk(model.busy());
  },
);

t.test(
  '… cut in the middle: no more of it; one that waits begins; at once where it takes no time',
  async (t) => {
    const { model, told, until } = pacedModel({ seed: 3, firstMs: [500, 500] });
    model.respond();
    until(800);
    const before = told.length;
    model.interrupt([]);
    until(1_500);
    t.same(
      told.slice(before).map(({ what }) => what),
      ['cancelled'],
    );
    model.respond();
    model.respond();
    until(9_000);
    t.equal(told.filter(({ what }) => what === 'completed').length, 2);

    const atOnce = pacedModel(null);
    atOnce.model.respond();
    atOnce.until(0);
    t.same(
      atOnce.told.map(({ what, bytes }) => [what, bytes]),
      [
        ['audio', 24_000],
        ['audio done', undefined],
        ['completed', undefined],
      ],
    );
  },
);
