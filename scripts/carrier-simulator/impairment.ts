// PURE. What becomes of each 20 ms frame on its way into the stream: sent, lost, withheld, doubled by a fast clock.
import { FRAME_MS } from './mulaw.ts';
import type { Network } from './options.ts';
import type { Random } from './random.ts';

export type Fate = 'send' | 'lose' | 'lose-and-skip-chunk' | 'repeat' | 'omit';

const SPEECH_DB = -40;
/** 200 ms: between syllables there is less. */
const PAUSE_FRAMES = 10;

export class Impairment {
  readonly #network: Network;
  readonly #random: Random;
  readonly #skewPerFrameMs: number;
  readonly #lossSkipsChunks: boolean;
  #skewMs = 0;
  #lossLeft = 0;
  #mutedLeft = 0;
  #silentLeft = 0;
  /** Frames without speech; a call begins with silence, which is no end of speech. */
  #quiet = PAUSE_FRAMES;

  constructor(network: Network, random: Random) {
    this.#network = network;
    this.#random = random;
    this.#skewPerFrameMs = (network.clockSkewPpm * FRAME_MS * (random.chance(0.5) ? 1 : -1)) / 1e6;
    this.#lossSkipsChunks = random.chance(0.5);
  }

  /** No frames for a while, as when RTP stops. */
  mute(ms: number): void {
    this.#mutedLeft = Math.max(this.#mutedLeft, Math.round(ms / FRAME_MS));
  }

  /** The next frame's fate. `omit`: the source's clock is behind, so that there is no such frame and no time for it. */
  next(levelDb: number): Fate {
    const network = this.#network;
    const random = this.#random;
    this.#quiet = levelDb >= SPEECH_DB ? 0 : this.#quiet + 1;
    // Speech has ended, or begins again.
    if (this.#quiet === PAUSE_FRAMES && random.chance(network.dtxChance)) {
      this.#silentLeft = Math.round(random.between(network.dtxMs) / FRAME_MS);
    }
    if (this.#quiet === 0) this.#silentLeft = 0;
    if (this.#mutedLeft > 0 || this.#silentLeft > 0) {
      this.#mutedLeft = Math.max(0, this.#mutedLeft - 1);
      this.#silentLeft = Math.max(0, this.#silentLeft - 1);
      return 'lose';
    }
    if (this.#lossLeft === 0 && network.lossRate > 0) {
      const run = Math.max(1, Math.round(random.between(network.lossRunMs) / FRAME_MS));
      if (random.chance(network.lossRate / run)) this.#lossLeft = run;
    }
    if (this.#lossLeft > 0) {
      this.#lossLeft -= 1;
      return this.#lossSkipsChunks ? 'lose-and-skip-chunk' : 'lose';
    }
    this.#skewMs += this.#skewPerFrameMs;
    if (this.#skewMs >= FRAME_MS) {
      this.#skewMs -= FRAME_MS;
      return 'repeat';
    }
    if (this.#skewMs <= -FRAME_MS) {
      this.#skewMs += FRAME_MS;
      return 'omit';
    }
    return 'send';
  }
}
