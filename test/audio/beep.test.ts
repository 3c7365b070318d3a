// Beeps of answering machines found among speech, ringback and other tones.
import t from 'tap';
import { type Beep, BeepDetector } from '../../audio/beep.ts';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { join, noise, type Recorded, readFixture, silence, tones } from './fixtures.ts';

/** Every beep in a sound, as a phone line carries it, given in pieces of `size` samples. */
function beepsIn(pcm: Int16Array, size = 160): Beep[] {
  const coded = new Uint8Array(pcm.length);
  encodeMulaw(pcm, coded);
  const line = new Int16Array(pcm.length);
  decodeMulaw(coded, line);
  const detector = new BeepDetector();
  const beeps: Beep[] = [];
  for (let from = 0; from < line.length; from += size) {
    const beep = detector.push(line.subarray(from, from + size));
    if (beep !== null) beeps.push(beep);
  }
  return beeps;
}

const mix = (a: Int16Array, b: Int16Array) => a.map((sample, n) => sample + (b[n] ?? 0));

t.test('a tone of 100 ms to 5 s between 350 and 2000 Hz, then silence -> one beep', async (t) => {
  for (const hz of [400, 425, 440, 480, 500, 700, 800, 825, 1000, 1400, 1990]) {
    for (const ms of [120, 200, 1000, 4900]) {
      const beeps = beepsIn(join(silence(250), tones([hz], ms), silence(500)));
      t.equal(beeps.length, 1, `${hz} Hz, ${ms} ms`);
      t.ok(Math.abs(beeps[0]!.frequencyHz - hz) <= 3, `told as ${beeps[0]!.frequencyHz} Hz`);
      t.ok(Math.abs(beeps[0]!.startSample - 250 * 8) <= 320);
      t.ok(Math.abs(beeps[0]!.endSample - (250 + ms) * 8) <= 320);
    }
  }
});

t.test('wherever the frames cut the tone, and whatever the pieces -> the same one beep', async (t) => {
  for (const offsetMs of [3, 7, 11, 17]) {
    const sound = join(silence(200 + offsetMs), tones([1000], 100), silence(300));
    for (const size of [1, 80, 160, 257, 4000])
      t.equal(beepsIn(sound, size).length, 1, `${offsetMs} ms, ${size}`);
  }
});

t.test('a quiet beep on a noisy line, and one with some distortion -> heard', async (t) => {
  const quiet = join(silence(300), tones([1000], 400, 600), silence(400));
  t.equal(beepsIn(mix(quiet, noise(1100, 100))).length, 1);
  const distorted = tones([800], 400).map((sample, n) => sample + (tones([1600], 400, 700)[n] ?? 0));
  t.equal(beepsIn(join(silence(300), distorted, silence(400))).length, 1);
});

/** A tone whose frequency moves evenly. */
const glide = (fromHz: number, toHz: number, ms: number) =>
  Int16Array.from({ length: ms * 8 }, (_, n) => {
    const seconds = n / 8000;
    return Math.round(
      6000 * Math.sin(2 * Math.PI * (fromHz * seconds + ((toHz - fromHz) * seconds ** 2 * 500) / ms)),
    );
  });
const harmonics = (hz: number, ms: number, gains: readonly number[]) =>
  gains
    .map((gain, k) => tones([hz * (k + 1)], ms, gain))
    .reduce((sum, one) => sum.map((sample, n) => sample + one[n]!));

t.test('harmonics, a square wave, two tones, a glide -> one beep', async (t) => {
  const sounds: Record<string, Int16Array> = {
    'harmonics of 40 %': harmonics(500, 300, [5000, 2000, 2000, 1000]),
    'a square wave': harmonics(400, 300, [6000, 0, 2000, 0, 1200, 0, 857]),
    'a square wave, as samples make it': Int16Array.from({ length: 3200 }, (_, n) =>
      Math.sin((2 * Math.PI * 707 * n) / 8000) >= 0 ? 5000 : -5000,
    ),
    'two tones': tones([620, 1050], 300),
    'two tones close together': tones([800, 900], 300),
    'upwards in 150 ms': glide(700, 1200, 150),
    'downwards in 600 ms': glide(1500, 800, 600),
  };
  for (const [name, sound] of Object.entries(sounds)) {
    t.equal(beepsIn(join(silence(300), sound, silence(400))).length, 1, name);
    const spoken = readFixture('caller-thanks').subarray(0, 3_000 * 8);
    const beeps = beepsIn(join(spoken, silence(50), sound, silence(400)));
    t.equal(beeps.length, 1, `${name}, after speech`);
    t.ok(Math.abs((beeps[0]?.startSample ?? 0) - 3_050 * 8) < 400, `${name}: where it begins`);
  }
});

t.test('what may be one pulse of a network -> a beep only when no other follows', async (t) => {
  const pulses = (hz: number, onMs: number, offMs: number, count: number) =>
    join(...Array.from({ length: count }, () => join(tones([hz], onMs), silence(offMs))));
  const after = (sound: Int16Array) => beepsIn(join(silence(3_000), sound));
  for (const [name, sound] of Object.entries({
    'ringback of Europe': pulses(425, 1_000, 4_000, 3),
    'of France': pulses(440, 1_500, 3_500, 3),
    'busy tone of Europe': pulses(425, 500, 500, 8),
    'congestion tone of Europe': pulses(425, 250, 250, 12),
  }))
    t.same(after(sound).slice(0, -1), [], name);
  t.equal(after(join(tones([425], 1_000), silence(5_600))).length, 1, 'it rang once and no more');
});

t.test('a tune of steady notes -> no beep', async (t) => {
  const notes = [523, 587, 659, 523, 659, 698, 784].flatMap((hz) => [tones([hz], 400), silence(150)]);
  t.ok(beepsIn(join(silence(500), ...notes)).length <= 2, 'two notes are no tune yet');
});

t.test('too short, too long, not over, out of range -> no beep', async (t) => {
  const sounds: Record<string, Int16Array> = {
    'a click of 40 ms': join(tones([1000], 40), silence(500)),
    'a tone of 6 s': join(tones([1000], 6000), silence(500)),
    'a tone that goes on': tones([1000], 3000),
    'a tone with speech right after it': join(
      tones([1000], 300),
      readFixture('jfk-8k').subarray(2600, 20000),
    ),
    '250 Hz': join(tones([250], 400), silence(500)),
    '2400 Hz': join(tones([2400], 400), silence(500)),
    'below hearing on a phone': join(tones([1000], 400, 60), silence(500)),
    silence: silence(1000),
    noise: join(noise(1000, 8000), silence(500)),
  };
  for (const [name, sound] of Object.entries(sounds)) t.same(beepsIn(join(silence(100), sound)), [], name);
});

t.test('keys off by what a receiver has to accept -> no beep; by what it has to refuse -> one', async (t) => {
  const beepsOff = (low: number, high: number, ms: number) =>
    [697, 770, 852, 941].flatMap((row) =>
      [1209, 1336, 1477, 1633].flatMap((column) =>
        beepsIn(
          join(silence(200), tones([row * (1 + low / 100), column * (1 + high / 100)], ms), silence(400)),
        ),
      ),
    );
  for (const ms of [90, 120, 200])
    for (const [low, high] of [
      [1.5, 1.5],
      [-1.5, 1.5],
      [1.5, -1.5],
      [-1.5, -1.5],
    ] as const)
      t.same(beepsOff(low, high, ms), [], `${low} %, ${high} %, ${ms} ms`);
  for (const off of [-3.5, 3.5]) t.equal(beepsOff(off, off, 200).length, 16, `${off} %`);
});

t.test('tones of the network, of keys and of a fax -> no beep', async (t) => {
  const sounds: Record<string, Int16Array> = {
    'ringback 440+480 Hz, 2 s': join(tones([440, 480], 2000), silence(500)),
    'ringback cut short': join(tones([440, 480], 200), silence(500)),
    'dial tone 350+440 Hz': join(tones([350, 440], 1000), silence(500)),
    'busy 480+620 Hz': join(tones([480, 620], 500), silence(500)),
    'key 1, 697+1209 Hz': join(tones([697, 1209], 100), silence(300)),
    'key 0, 941+1336 Hz': join(tones([941, 1336], 200), silence(300)),
    'fax calling, 1100 Hz': join(tones([1100], 500), silence(3000)),
    'fax calling, 1138 Hz': join(tones([1135], 500), silence(3000)),
    'fax answering, 2100 Hz': join(tones([2100], 3000), silence(500)),
    'information tones, no such number': join(
      tones([985.2], 380),
      tones([1428.5], 380),
      tones([1776.7], 380),
      silence(500),
    ),
    'information tones, 30 ms apart': join(
      tones([913.8], 274),
      silence(30),
      tones([1370.6], 274),
      silence(30),
      tones([1776.7], 380),
      silence(500),
    ),
  };
  for (const [name, sound] of Object.entries(sounds)) t.same(beepsIn(join(silence(200), sound)), [], name);
});

t.test('real speech -> no beep, at any pitch', async (t) => {
  for (const name of ['jfk-8k', 'caller-thanks', 'caller-more-info'] satisfies Recorded[]) {
    const speech = readFixture(name);
    for (const speed of [0.8, 1, 1.2, 1.5, 1.9]) {
      const faster = Int16Array.from(
        { length: Math.floor(speech.length / speed) },
        (_, n) => speech[Math.floor(n * speed)]!,
      );
      t.same(beepsIn(join(faster, silence(300))), [], `${name} at speed ${speed}`);
    }
  }
});

t.test('a voicemail greeting -> its beep at the end and no other', async (t) => {
  const greeting = readFixture('voicemail-greeting-with-beep');
  const beeps = beepsIn(join(greeting, silence(300)));
  t.equal(beeps.length, 1);
  t.equal(beeps[0]!.frequencyHz, 700);
  t.ok(beeps[0]!.startSample > 10_400 * 8 && beeps[0]!.startSample < 10_540 * 8);
});

/** A sound and its reflections, each so many samples later and of so much of it. */
const reflected = (sound: Int16Array, taps: readonly (readonly [number, number])[]) => {
  const out = new Float64Array(sound.length + 2_400);
  for (const [samples, gain] of taps)
    for (let n = 0; n < sound.length; n++) out[n + samples]! += sound[n]! * gain;
  return Int16Array.from(out, Math.round);
};

t.test('through a room that answers late and loudly -> one beep all the same', async (t) => {
  const taps = [[0, 0.5] as const].concat(
    Array.from({ length: 60 }, (_, i) => [
      37 * (i + 1) + ((i * i * 7) % 23),
      0.28 * 0.95 ** i * (i % 3 === 0 ? -1 : 1),
    ]) as [],
  );
  for (const [name, sound] of Object.entries({
    'a short high tone': tones([820], 200),
    harmonics: harmonics(600, 400, [4000, 3000, 2000]),
    'a slow glide': glide(700, 840, 600),
  }))
    t.equal(
      beepsIn(join(silence(1_400), reflected(join(sound, silence(300)), taps), silence(500))).length,
      1,
      name,
    );
});

t.test('a tone that a room swallows for two looks -> one beep, not two notes', async (t) => {
  const sound = tones([900], 500);
  for (let n = 2_000; n < 2_000 + 250; n++) sound[n] = Math.round(sound[n]! * 0.02);
  const beeps = beepsIn(join(silence(300), sound, silence(400)));
  t.equal(beeps.length, 1);
  t.ok((beeps[0]?.endSample ?? 0) - (beeps[0]?.startSample ?? 0) > 3_600, 'the whole of it');
});

t.test('1100 Hz for half a second: a fax out of silence, a beep after speech', async (t) => {
  const spoken = readFixture('caller-thanks').subarray(0, 3_000 * 8);
  t.same(beepsIn(join(silence(2_000), tones([1_100], 500), silence(600))), [], 'a fax');
  t.equal(beepsIn(join(spoken, silence(200), tones([1_100], 500), silence(600))).length, 1, 'a beep');
});

t.test('two tones near those of a key -> a beep; those of a key, a little off -> a key', async (t) => {
  t.equal(beepsIn(join(silence(200), tones([835, 1_447], 300), silence(400))).length, 1);
  t.same(beepsIn(join(silence(200), tones([852 * 0.993, 1_477 * 1.007], 300), silence(400))), []);
});

t.test('vowels before a beep are no notes of a tune', async (t) => {
  const vowel = harmonics(200, 150, [5_000, 4_000, 3_000, 2_000]);
  const beeps = beepsIn(
    join(silence(300), vowel, silence(60), vowel, silence(60), tones([1_400], 300), silence(400)),
  );
  t.equal(beeps.length, 1);
});

t.test(
  'a low tone as short as a voice holds one, that swells and falls as a voice does -> no beep',
  async (t) => {
    const held = tones([370], 170).map((sample, n) =>
      Math.round(sample * Math.sin((Math.PI * n) / 1_360) ** 1.5),
    );
    t.same(beepsIn(join(silence(1_500), held, silence(500))), []);
    t.same(beepsIn(join(silence(1_500), glide(310, 390, 150), silence(500))), [], 'a pitch that moves');
  },
);
