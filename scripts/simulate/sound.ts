// PURE. Sound as 8 kHz samples: reading WAV files, where somebody speaks, and where one recording is found in another.
// The judgements made from these figures are checks.ts.

export const RATE_HZ = 8000;
const MS = RATE_HZ / 1000;

export interface Wav {
  rateHz: number;
  /** Samples of -32768 to 32767, one array per channel. */
  channels: Float32Array[];
}

/**
 * Reads 16-bit PCM, as every program of a simulation writes it. A data length of zero, left by a writer that was stopped,
 * means the rest of the file.
 * @throws Error when it is something else
 */
export function readWav(file: Uint8Array): Wav {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const tag = (at: number) => String.fromCharCode(...file.subarray(at, at + 4));
  if (file.length < 44 || tag(0) !== 'RIFF' || tag(8) !== 'WAVE') throw new Error('no WAV file');
  let rateHz = 0;
  let count = 0;
  for (let at = 12; at + 8 <= file.length; ) {
    const length = view.getUint32(at + 4, true);
    const start = at + 8;
    if (tag(at) === 'fmt ') {
      const bits = view.getUint16(start + 14, true);
      if (bits !== 16) throw new Error(`a WAV file of ${bits} bits a sample`);
      count = view.getUint16(start + 2, true);
      rateHz = view.getUint32(start + 4, true);
    } else if (tag(at) === 'data') {
      if (count === 0) throw new Error('a WAV file without a format');
      const bytes = length === 0 ? file.length - start : Math.min(length, file.length - start);
      const frames = Math.floor(bytes / (2 * count));
      const channels = Array.from({ length: count }, () => new Float32Array(frames));
      for (let frame = 0; frame < frames; frame++) {
        for (let channel = 0; channel < count; channel++) {
          channels[channel]![frame] = view.getInt16(start + (frame * count + channel) * 2, true);
        }
      }
      return { rateHz, channels };
    }
    at = start + length + (length % 2);
  }
  throw new Error('a WAV file without sound');
}

/** Mono samples as a 16-bit WAV file at 8 kHz. */
export function writeWav(samples: Float32Array | Float64Array): Uint8Array {
  const out = new Uint8Array(44 + samples.length * 2);
  const view = new DataView(out.buffer);
  const text = (at: number, word: string) => {
    for (let i = 0; i < word.length; i++) out[at + i] = word.charCodeAt(i);
  };
  text(0, 'RIFF');
  view.setUint32(4, 36 + samples.length * 2, true);
  text(8, 'WAVEfmt ');
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, 1, true);
  view.setUint32(24, RATE_HZ, true);
  view.setUint32(28, RATE_HZ * 2, true);
  view.setUint16(32, 2, true);
  view.setUint16(34, 16, true);
  text(36, 'data');
  view.setUint32(40, samples.length * 2, true);
  for (let i = 0; i < samples.length; i++) {
    view.setInt16(44 + i * 2, Math.max(-32768, Math.min(32767, Math.round(samples[i]!))), true);
  }
  return out;
}

/** From and to, in samples. */
export interface Stretch {
  from: number;
  to: number;
}

/** A 20 ms frame this loud is sound; the idle noise of a line stays far below. */
const AUDIBLE_RMS = 260;
const AUDIBLE_FRAME = 20 * MS;
/** And this much of the loud parts is speech; what lies below is the room it was recorded in. 24 dB. */
const SPEECH_SHARE = 0.06;

/**
 * Where somebody speaks: stretches of audible frames, joined over pauses shorter than `joinMs`. Stretches shorter than
 * `leastMs` are clicks.
 */
export function speechStretches(
  samples: Float32Array,
  o: { joinMs?: number; leastMs?: number } = {},
): Stretch[] {
  const frame = 20 * MS;
  const join = (o.joinMs ?? 300) * MS;
  const least = (o.leastMs ?? 100) * MS;
  const levels = Float32Array.from({ length: Math.ceil(samples.length / frame) }, (_, i) => {
    const to = Math.min(samples.length, (i + 1) * frame);
    let power = 0;
    for (let at = i * frame; at < to; at++) power += samples[at]! * samples[at]!;
    return Math.sqrt(power / (to - i * frame));
  });
  const audible = levels.filter((level) => level >= AUDIBLE_RMS).sort();
  const loud = audible[Math.floor(audible.length * 0.9)] ?? 0;
  const threshold = Math.max(AUDIBLE_RMS, loud * SPEECH_SHARE);
  const found: Stretch[] = [];
  for (const [i, level] of levels.entries()) {
    if (level < threshold) continue;
    const at = i * frame;
    const to = Math.min(samples.length, at + frame);
    const last = found.at(-1);
    if (last !== undefined && at - last.to <= join) last.to = to;
    else found.push({ from: at, to });
  }
  return found.filter(({ from, to }) => to - from >= least);
}

/** Long stretches in pieces, so that each may lie a little off its neighbours, as on a line that stalls. */
export function pieces(stretches: readonly Stretch[], longestMs = 1600): Stretch[] {
  return stretches.flatMap(({ from, to }) => {
    const count = Math.max(1, Math.ceil((to - from) / (longestMs * MS)));
    const length = (to - from) / count;
    return Array.from({ length: count }, (_, i) => ({
      from: Math.round(from + i * length),
      to: Math.round(from + (i + 1) * length),
    }));
  });
}

const turns = new Map<number, { cosine: Float64Array; sine: Float64Array }>();

function turnsOf(n: number): { cosine: Float64Array; sine: Float64Array } {
  let found = turns.get(n);
  if (found === undefined) {
    const angle = (i: number) => (2 * Math.PI * i) / n;
    found = {
      cosine: Float64Array.from({ length: n / 2 }, (_, i) => Math.cos(angle(i))),
      sine: Float64Array.from({ length: n / 2 }, (_, i) => Math.sin(angle(i))),
    };
    turns.set(n, found);
  }
  return found;
}

/** In place, radix 2. `sign` -1 forward, 1 back (without the division). */
function transform(re: Float64Array, im: Float64Array, sign: 1 | -1): void {
  const n = re.length;
  const { cosine, sine } = turnsOf(n);
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) {
      const heldRe = re[i]!;
      const heldIm = im[i]!;
      re[i] = re[j]!;
      im[i] = im[j]!;
      re[j] = heldRe;
      im[j] = heldIm;
    }
  }
  for (let size = 2; size <= n; size *= 2) {
    const half = size / 2;
    const step = n / size;
    for (let base = 0; base < n; base += size) {
      for (let k = 0, turn = 0; k < half; k++, turn += step) {
        const turnRe = cosine[turn]!;
        const turnIm = sign * sine[turn]!;
        const a = base + k;
        const b = a + half;
        const xRe = re[b]! * turnRe - im[b]! * turnIm;
        const xIm = re[b]! * turnIm + im[b]! * turnRe;
        re[b] = re[a]! - xRe;
        im[b] = im[a]! - xIm;
        re[a]! += xRe;
        im[a]! += xIm;
      }
    }
  }
}

export interface Found {
  /** Sample of the longer sound at which the shorter one begins. */
  at: number;
  /** Correlation there, -1 to 1; 1 is the same wave, whatever its loudness. */
  score: number;
}

/** The best place of a sound inside another between two samples, by normalized cross-correlation. */
function correlate(needle: Float32Array, hay: Float32Array, from: number, to: number): Found {
  const length = needle.length;
  const first = Math.max(0, from);
  const last = Math.min(hay.length, to);
  if (length === 0 || last - first < length) return { at: first, score: 0 };
  const span = last - first;
  let size = 1;
  while (size < span + length) size *= 2;
  // Both real: the longer sound in the real part, the shorter one, turned round, in the imaginary part.
  const re = new Float64Array(size);
  const im = new Float64Array(size);
  for (let i = 0; i < span; i++) re[i] = hay[first + i]!;
  let ownEnergy = 0;
  for (let i = 0; i < length; i++) {
    im[i] = needle[length - 1 - i]!;
    ownEnergy += needle[i]! * needle[i]!;
  }
  transform(re, im, -1);
  const productRe = new Float64Array(size);
  const productIm = new Float64Array(size);
  for (let k = 0; k < size; k++) {
    const mirror = (size - k) & (size - 1);
    const aRe = (re[k]! + re[mirror]!) / 2;
    const aIm = (im[k]! - im[mirror]!) / 2;
    const bRe = (im[k]! + im[mirror]!) / 2;
    const bIm = (re[mirror]! - re[k]!) / 2;
    productRe[k] = aRe * bRe - aIm * bIm;
    productIm[k] = aRe * bIm + aIm * bRe;
  }
  transform(productRe, productIm, 1);
  let energy = 0;
  for (let i = 0; i < length; i++) energy += hay[first + i]! * hay[first + i]!;
  const best: Found = { at: first, score: -1 };
  for (let lag = 0; lag + length <= span; lag++) {
    if (lag > 0) {
      energy += hay[first + lag + length - 1]! ** 2 - hay[first + lag - 1]! ** 2;
    }
    // What is far quieter than the sound itself is no copy of it.
    const scale = Math.sqrt(ownEnergy * Math.max(energy, ownEnergy / 100));
    const score = scale === 0 ? 0 : productRe[lag + length - 1]! / size / scale;
    if (score > best.score) {
      best.at = first + lag;
      best.score = score;
    }
  }
  return best;
}

/** The best place of a sound inside the whole of another. */
export const bestPlace = (needle: Float32Array, hay: Float32Array): Found =>
  correlate(needle, hay, 0, hay.length);

const isAudible = (samples: Float32Array, from: number, to: number) => {
  let power = 0;
  for (let at = from; at < to; at++) power += samples[at]! ** 2;
  return to > from && Math.sqrt(power / (to - from)) >= AUDIBLE_RMS;
};

/** The sample at which the first audible frame from one on begins; null: all is quiet from there on. */
export function firstAudible(samples: Float32Array, from = 0): number | null {
  for (let at = Math.max(0, Math.ceil(from)); at + AUDIBLE_FRAME <= samples.length; at += AUDIBLE_FRAME)
    if (isAudible(samples, at, at + AUDIBLE_FRAME)) return at;
  return null;
}

/** For how long in all somebody is audible. */
export function audibleMs(samples: Float32Array): number {
  let frames = 0;
  for (let at = 0; at < samples.length; at += AUDIBLE_FRAME)
    if (isAudible(samples, at, Math.min(samples.length, at + AUDIBLE_FRAME))) frames++;
  return Math.min((frames * AUDIBLE_FRAME) / MS, samples.length / MS);
}

/** Correlation of a sound with another at one place. */
function similarity(needle: Float32Array, hay: Float32Array, at: number): number {
  if (at < 0 || at + needle.length > hay.length) return 0;
  let product = 0;
  let own = 0;
  let other = 0;
  for (let i = 0; i < needle.length; i++) {
    const here = needle[i]!;
    const there = hay[at + i]!;
    product += here * there;
    own += here * here;
    other += there * there;
  }
  return product === 0 ? 0 : product / Math.sqrt(own * Math.max(other, own / 100));
}

const GOOD_ENOUGH = 0.9;
/** What a piece reaches of which one half was found. */
const HALF_THERE = 0.5;
/** After so many pieces that are nowhere, the others are looked for in their places only. */
const MOST_MISSING = 2;
/** Shorter ones resemble too much. */
const LEAST_PIECE = 150 * MS;
const SEAM_STEP = 5 * MS;
/** And what is shorter than this is not taken for itself far from its place. */
const LEAST_FAR = 500 * MS;
/** Where a sound is looked for, around the place where it is expected: hardly moved, then moved by a turn or two. */
const NEAR = [
  [0.2 * RATE_HZ, 0.2 * RATE_HZ],
  [2 * RATE_HZ, 8 * RATE_HZ],
] as const;

/** The better of two places. */
const better = (one: Found, other: Found) => (other.score > one.score ? other : one);

/** Whether a place is another than the expected one. */
const isFar = (at: number, expected: number) => Math.abs(at - expected) > NEAR[0][0];

/** Where a sound is in another around the sample where it is expected, the nearest place that will do. */
function locate(needle: Float32Array, hay: Float32Array, expected: number): Found {
  let best: Found = { at: 0, score: -1 };
  for (const [before, after] of NEAR) {
    best = better(best, correlate(needle, hay, expected - before, expected + needle.length + after));
    if (best.score >= GOOD_ENOUGH) return best;
  }
  return best;
}

/** The same sound backwards: as loud, the same pitch, and nothing of it intelligible. */
function backwards(samples: Float32Array): Float32Array {
  return samples.slice().reverse();
}

export interface Likeness {
  /** Where each piece of the first sound was found in the second. */
  found: (Found & Stretch)[];
  /** The weakest piece's correlation, and the mean of all by length. */
  weakest: number;
  mean: number;
  /** What the longest piece reaches near its place when it is backwards: the figure of a sound that is not there. */
  chance: number;
}

/**
 * Looks for every spoken piece of `source` in `target`.
 * @param shift where sample 0 of the source is expected in the target
 */
export function compare(
  source: Float32Array,
  target: Float32Array,
  shift: number,
  stretches: readonly Stretch[] = speechStretches(source),
): Likeness {
  const found: Likeness['found'] = [];
  let expectedShift = shift;
  let longest: (Stretch & { at: number }) | null = null;
  let missing = 0;
  const inTwo = (piece: Stretch): Likeness['found'] | null => {
    const { from, to } = piece;
    if (to - from < 2 * LEAST_PIECE) return null;
    const ends = [
      { from, to: from + LEAST_PIECE },
      { from: to - LEAST_PIECE, to },
    ].map((end) => ({
      ...end,
      ...locate(source.subarray(end.from, end.to), target, end.from + expectedShift),
    }));
    const [head, tail] = ends as [Found & Stretch, Found & Stretch];
    if (head.score < GOOD_ENOUGH || tail.score < GOOD_ENOUGH) {
      return halves(piece);
    }
    const tailShift = tail.at - tail.from;
    let best: Likeness['found'] | null = null;
    let bestScore = GOOD_ENOUGH;
    for (let seam = head.to; seam <= tail.from; seam += SEAM_STEP) {
      const first = similarity(source.subarray(from, seam), target, head.at);
      const second = similarity(source.subarray(seam, to), target, seam + tailShift);
      if (Math.min(first, second) < bestScore) continue;
      if (isFar(head.at, from + expectedShift) && seam - from < LEAST_FAR) continue;
      if (isFar(tail.at, tail.from + expectedShift) && to - seam < LEAST_FAR) continue;
      bestScore = Math.min(first, second);
      best = [
        { from, to: seam, at: head.at, score: first },
        { from: seam, to, at: seam + tailShift, score: second },
      ];
    }
    if (best === null) return halves(piece);
    expectedShift = tailShift;
    return best;
  };
  /** More than one seam: each half by itself. */
  const halves = ({ from, to }: Stretch): Likeness['found'] | null => {
    if (to - from < 4 * LEAST_PIECE) return null;
    const before = expectedShift;
    const middle = Math.round((from + to) / 2);
    const parts = [...look({ from, to: middle }, true), ...look({ from: middle, to }, true)];
    if (parts.every(({ score }) => score >= GOOD_ENOUGH)) return parts;
    expectedShift = before;
    return null;
  };
  const look = (piece: Stretch, part: boolean): Likeness['found'] => {
    const needle = source.subarray(piece.from, piece.to);
    const expected = piece.from + expectedShift;
    // In its place in two parts (a listener that began anew in the middle, a clock that jumped) goes before whole elsewhere:
    // who says a thing twice has it there too.
    const [before, after] = NEAR[0];
    let place = correlate(needle, target, expected - before, expected + needle.length + after);
    let parts = place.score >= HALF_THERE && place.score < GOOD_ENOUGH ? inTwo(piece) : null;
    if (parts !== null) return parts;
    const far = needle.length >= LEAST_FAR;
    if (far && place.score < GOOD_ENOUGH) place = better(place, locate(needle, target, expected));
    if (far && place.score < GOOD_ENOUGH && !part && missing < MOST_MISSING)
      place = better(place, correlate(needle, target, 0, target.length));
    if (place.score >= GOOD_ENOUGH) {
      expectedShift = place.at - piece.from;
      return [{ ...piece, ...place }];
    }
    parts = place.score >= HALF_THERE ? inTwo(piece) : null;
    if (parts !== null) return parts;
    if (!part) missing++;
    return [{ ...piece, ...place }];
  };
  for (const piece of pieces(stretches)) {
    const parts = look(piece, false);
    found.push(...parts);
    if (longest === null || piece.to - piece.from > longest.to - longest.from) {
      longest = { ...piece, at: parts[0]!.at };
    }
  }
  let sum = 0;
  let length = 0;
  for (const one of found) {
    sum += one.score * (one.to - one.from);
    length += one.to - one.from;
  }
  let chance = 0;
  if (longest !== null) {
    const meaningless = backwards(source.subarray(longest.from, longest.to));
    const around = 2 * RATE_HZ;
    const from = longest.at - around;
    chance = Math.max(
      0,
      correlate(meaningless, target, from, longest.at + meaningless.length + around).score,
    );
  }
  return {
    found,
    weakest: found.length === 0 ? 0 : Math.min(...found.map(({ score }) => score)),
    mean: length === 0 ? 0 : sum / length,
    chance,
  };
}

/** Peak of every slice of a sound, 0 to 1 of full scale: what a waveform is drawn from. */
export function peaks(samples: Float32Array, count: number): Float32Array {
  const out = new Float32Array(count);
  const step = samples.length / count;
  for (let i = 0; i < count; i++) {
    const to = Math.min(samples.length, Math.max(Math.floor((i + 1) * step), Math.floor(i * step) + 1));
    let peak = 0;
    for (let at = Math.floor(i * step); at < to; at++) peak = Math.max(peak, Math.abs(samples[at]!));
    out[i] = peak / 32768;
  }
  return out;
}
