// Speaks any text with the committed recordings: whole phrases where one fits, single words joined elsewhere, unknown
// words spelled. Everything spoken once is kept, as bytes of the format asked for.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeMulaw, encodeAlaw } from './g711.ts';
import { upsample } from './resample.ts';
import { type Wording, wordings } from './wording.ts';

export type AudioFormat = 'audio/pcm' | 'audio/pcmu' | 'audio/pcma';

/** Bytes of one millisecond in a format: 24 kHz 16-bit PCM, or 8 kHz G.711. */
export const BYTES_PER_MS: Record<AudioFormat, number> = {
  'audio/pcm': 48,
  'audio/pcmu': 8,
  'audio/pcma': 8,
};

/** Offset and length in the pack, in bytes of mu-law at 8 kHz; a phrase adds start and end of each word, in ms. */
export interface VoiceIndex {
  rateHz: number;
  encoding: 'mulaw';
  speaker: string;
  phrases: Record<string, [number, number, [number, number][]]>;
  words: Record<string, [number, number]>;
}

export interface SpokenWord {
  text: string;
  startMs: number;
  endMs: number;
}

/** A text as sound: `audioMs` long, and where each written word lies in it. */
export interface Utterance {
  text: string;
  audioMs: number;
  words: SpokenWord[];
  mulaw: Buffer;
}

const SILENCE = 0xff;
const WORD_GAP_MS = 45;
const LETTER_GAP_MS = 90;
/** Silence before the first word: a model's audio does not start on the word. */
const LEAD_MS = 60;
const MOST_UTTERANCES_KEPT = 400;

export class Voice {
  readonly #pack: Buffer;
  readonly #index: VoiceIndex;
  readonly #longest: number;
  readonly #spoken = new Map<string, Utterance>();
  readonly #bytes = new Map<string, Buffer>();

  /** Reads the recordings beside this file. */
  constructor(folder = join(import.meta.dirname, 'voice')) {
    this.#pack = readFileSync(join(folder, 'voice.mulaw'));
    this.#index = JSON.parse(readFileSync(join(folder, 'voice.json'), 'utf8')) as VoiceIndex;
    this.#longest = Math.max(1, ...Object.keys(this.#index.phrases).map((key) => key.split(' ').length));
  }

  /** The text as sound. An empty text gives a short silence. */
  speak(text: string): Utterance {
    const kept = this.#spoken.get(text);
    if (kept !== undefined) return kept;
    const chunks: Buffer[] = [];
    const words: SpokenWord[] = [];
    let bytes = 0;
    const atMs = () => bytes / 8;
    const put = (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
    };
    const rest = (ms: number) => put(Buffer.alloc(ms * 8, SILENCE));
    const clip = (entry: readonly [number, number, ...unknown[]]) =>
      put(this.#pack.subarray(entry[0], entry[0] + entry[1]));

    rest(LEAD_MS);
    const list = wordings(text);
    for (let at = 0; at < list.length; ) {
      const phrase = this.#phraseAt(list, at);
      if (phrase !== null) {
        const startMs = atMs();
        for (let i = 0; i < phrase.length; i++) {
          const [from, to] = phrase.times[i] ?? [0, 0];
          words.push({ text: list[at + i]!.written, startMs: startMs + from, endMs: startMs + to });
        }
        clip(phrase.entry);
        at += phrase.length;
        rest(Math.max(WORD_GAP_MS, list[at - 1]!.pauseMs));
        continue;
      }
      const word = list[at++]!;
      const startMs = atMs();
      for (const spoken of word.spoken) {
        const entry = this.#index.words[spoken];
        if (entry !== undefined) {
          clip(entry);
          rest(WORD_GAP_MS);
          continue;
        }
        for (const letter of spoken) {
          const sound = this.#index.words[letter];
          if (sound === undefined) continue; // an apostrophe
          clip(sound);
          rest(LETTER_GAP_MS);
        }
      }
      words.push({ text: word.written, startMs, endMs: Math.max(startMs, atMs() - WORD_GAP_MS) });
      rest(word.pauseMs);
    }
    const utterance = { text, audioMs: bytes / 8, words, mulaw: Buffer.concat(chunks) };
    if (this.#spoken.size >= MOST_UTTERANCES_KEPT) this.#spoken.clear();
    this.#spoken.set(text, utterance);
    return utterance;
  }

  /** The utterance in a format; the same buffer each time, not to be written to. */
  encode(utterance: Utterance, format: AudioFormat): Buffer {
    if (format === 'audio/pcmu') return utterance.mulaw;
    const key = `${format} ${utterance.text}`;
    let bytes = this.#bytes.get(key);
    if (bytes === undefined) {
      const samples = decodeMulaw(utterance.mulaw);
      if (format === 'audio/pcma') bytes = encodeAlaw(samples);
      else {
        const raised = upsample(samples, 3);
        bytes = Buffer.from(raised.buffer, raised.byteOffset, raised.byteLength); // every host Node runs on is little-endian
      }
      if (this.#bytes.size >= MOST_UTTERANCES_KEPT) this.#bytes.clear();
      this.#bytes.set(key, bytes);
    }
    return bytes;
  }

  #phraseAt(
    list: readonly Wording[],
    at: number,
  ): { length: number; entry: [number, number, unknown]; times: [number, number][] } | null {
    let key = '';
    let best: ReturnType<typeof this.phraseMatch> = null;
    let spoken = 0;
    for (let i = at; i < list.length && spoken < this.#longest; i++) {
      const words = list[i]!.spoken;
      spoken += words.length;
      if (words.length > 0) key = key === '' ? words.join(' ') : `${key} ${words.join(' ')}`;
      best = this.phraseMatch(key, i - at + 1) ?? best;
    }
    return best;
  }

  private phraseMatch(key: string, length: number) {
    const entry = this.#index.phrases[key];
    return entry === undefined ? null : { length, entry, times: entry[2] };
  }
}
