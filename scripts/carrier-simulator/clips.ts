// What callees say: reads the clips of the scripts and keeps them, so that every call shares the same frames.
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Sound } from './options.ts';
import { amplify, type Clip, clipOf, toneSamples, wavSamples } from './sound.ts';

export class Clips {
  readonly #dir: string;
  readonly #clips = new Map<string, Promise<Clip>>();
  readonly #ready = new Map<string, Clip>();

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** @throws Error when the file is missing or no WAV */
  async load(sound: Sound): Promise<Clip> {
    const key = keyOf(sound);
    let clip = this.#clips.get(key);
    if (!clip) {
      clip = this.#read(sound);
      this.#clips.set(key, clip);
      clip.catch(() => this.#clips.delete(key));
    }
    const loaded = await clip;
    this.#ready.set(key, loaded);
    return loaded;
  }

  /** A clip that was loaded before. */
  get(sound: Sound): Clip {
    const clip = this.#ready.get(keyOf(sound));
    if (!clip) throw new Error(`clip not loaded: ${keyOf(sound)}`);
    return clip;
  }

  async #read(sound: Sound): Promise<Clip> {
    if (sound.tone) {
      const { hz, ms, levelDb: level } = sound.tone;
      return clipOf(`${hz} Hz`, toneSamples([hz], ms, level + sound.gainDb));
    }
    const file = resolve(this.#dir, sound.file!);
    return clipOf(sound.file!, amplify(wavSamples(await readFile(file)), sound.gainDb));
  }
}

function keyOf(sound: Sound): string {
  return JSON.stringify([sound.file ?? null, sound.tone ?? null, sound.gainDb]);
}
