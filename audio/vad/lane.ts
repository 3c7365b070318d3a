// PURE. One call's place in the VAD batch: its windows in their order, the model's memory of it, and an energy gate that
// answers silence without the model; plain-speech.ts answers for it in the middle of speech. Its runs are batch.ts.
import { MULAW_SILENCE, RATE_HZ } from '../format.ts';
import { MULAW_TO_PCM } from '../g711.ts';
import { mulawLevelDb, NoiseFloor } from '../levels.ts';
import type { VadModel } from './models.ts';
import { PlainSpeech } from './plain-speech.ts';
import type { OnWindow, VadLane } from './vad.ts';

/** 32 ms at 8 kHz: what the model was made for. */
export const VAD_WINDOW_SAMPLES = 256;
const WINDOW_MS = (VAD_WINDOW_SAMPLES / RATE_HZ) * 1000;
/** What the model is given for a mu-law code. */
const MODEL_SAMPLES = Float32Array.from(MULAW_TO_PCM, (sample) => sample / 32768);

// Opens this far above the noise floor; what is louder than the ceiling always reaches the model, what is fainter than the bottom never.
const GATE_ABOVE_FLOOR_DB = 6;
const GATE_BOTTOM_DB = -62;
const GATE_CEILING_DB = -35;
// 320 ms: the model itself sees the end of a word and the pause between two.
const HANGOVER_WINDOWS = 10;
// Gated windows that the model still sees before an onset, to settle on the line.
const WARM_UP_WINDOWS = 3;
// A second without the model makes its memory stale.
const RESET_WINDOWS = 32;
// 4 s behind: older windows of a call tell nothing about now.
const MAX_BACKLOG = 128;

/** A batch's numbers, a row per lane: windows (each with its context) and memory in, probabilities and memory out. */
export interface BatchRows {
  readonly samples: Float32Array;
  /** One array for each part of the model's memory, [2, batch, size]. */
  readonly before: readonly Float32Array[];
  readonly after: readonly Float32Array[];
  readonly probabilities: Float32Array;
}

interface Pending {
  /** The window behind its context, mu-law: only what the model sees is decoded. Null for a window that skips the model. */
  samples: Uint8Array | null;
  endSample: number;
  levelDb: number;
  /** The model's memory starts anew with this window. */
  fresh: boolean;
  /** Before an onset: for the model's memory only, it has been answered. */
  warmUp: boolean;
}

/** What the batch does for its lanes. */
export interface LaneHost {
  gate: boolean;
  carry: boolean;
  model: Pick<VadModel, 'contextSamples' | 'memory'>;
  counters: { windows: number; carriedWindows: number; droppedWindows: number };
  /** A buffer of one window and its context, and its way back: shared by all lanes. */
  take(): Uint8Array;
  give(samples: Uint8Array): void;
  /** There is something to answer. Not said again before `answerPlain` answered false. */
  ready(lane: QueuedLane): void;
}

export class QueuedLane implements VadLane {
  readonly #onWindow: OnWindow;
  readonly #host: LaneHost;
  readonly #memory: readonly Float32Array[];
  readonly #context: number;
  readonly #floor = new NoiseFloor();
  readonly #speech = new PlainSpeech();
  readonly #pending: Pending[] = [];
  #backlog = 0;
  #window: Uint8Array;
  #filled = 0;
  #endSample = 0;
  /** The last gated windows, in case the next one is an onset. */
  readonly #before: Uint8Array[] = [];
  #hangover = 0;
  #gatedWindows = 0;
  /** In the host's list, or in flight: either way the host will ask again. */
  #queued = false;
  #inFlight: Pending | null = null;
  #closed = false;

  constructor(onWindow: OnWindow, host: LaneHost) {
    this.#onWindow = onWindow;
    this.#host = host;
    this.#context = host.model.contextSamples;
    this.#memory = host.model.memory.map(({ size }) => new Float32Array(2 * size));
    this.#window = host.take().fill(MULAW_SILENCE);
  }

  push(mulaw: Uint8Array): void {
    if (this.#closed) return;
    for (let from = 0; from < mulaw.length; ) {
      const count = Math.min(VAD_WINDOW_SAMPLES - this.#filled, mulaw.length - from);
      const at = this.#context + this.#filled;
      for (let i = 0; i < count; i++) this.#window[at + i] = mulaw[from + i]!;
      this.#filled += count;
      from += count;
      if (this.#filled === VAD_WINDOW_SAMPLES) this.#completeWindow();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.give(this.#window);
    for (const samples of this.#before.splice(0)) this.#host.give(samples);
    for (const { samples } of this.#pending.splice(0)) if (samples !== null) this.#host.give(samples);
  }

  #completeWindow(): void {
    const samples = this.#window;
    const levelDb = mulawLevelDb(samples, this.#context);
    const endSample = this.#endSample + VAD_WINDOW_SAMPLES;
    this.#endSample = endSample;
    this.#filled = 0;
    if (this.#isOpen(levelDb)) {
      let fresh = this.#gatedWindows >= RESET_WINDOWS;
      for (const before of this.#before.splice(0)) {
        this.#enqueue({ samples: before, endSample, levelDb, fresh, warmUp: true });
        fresh = false;
      }
      this.#enqueue({ samples, endSample, levelDb, fresh, warmUp: false });
      this.#gatedWindows = 0;
      this.#window = this.#host.take();
    } else {
      this.#gatedWindows++;
      this.#before.push(samples);
      this.#window = this.#before.length > WARM_UP_WINDOWS ? this.#before.shift()! : this.#host.take();
      this.#enqueue({ samples: null, endSample, levelDb, fresh: false, warmUp: false });
    }
    // The sound goes on in the next window, whether the model sees this one or not.
    for (let i = 0; i < this.#context; i++) this.#window[i] = samples[VAD_WINDOW_SAMPLES + i]!;
  }

  #isOpen(levelDb: number): boolean {
    const floorDb = this.#floor.step(levelDb, WINDOW_MS);
    if (!this.#host.gate) return true;
    const thresholdDb = Math.max(GATE_BOTTOM_DB, Math.min(GATE_CEILING_DB, floorDb + GATE_ABOVE_FLOOR_DB));
    if (levelDb > thresholdDb) this.#hangover = HANGOVER_WINDOWS;
    else if (this.#hangover > 0) this.#hangover--;
    else return false;
    return true;
  }

  #enqueue(pending: Pending): void {
    this.#pending.push(pending);
    if (pending.samples !== null && ++this.#backlog > MAX_BACKLOG) this.#dropOldest();
    if (this.#queued) return;
    this.#queued = true;
    this.#host.ready(this);
  }

  #dropOldest(): void {
    const at = this.#pending.findIndex(({ samples }) => samples !== null);
    const [dropped] = this.#pending.splice(at, 1);
    if (dropped?.samples) this.#host.give(dropped.samples);
    const next = this.#pending.find(({ samples }) => samples !== null);
    if (next !== undefined) next.fresh = true;
    this.#backlog--;
    this.#host.counters.droppedWindows++;
  }

  /** Answers windows without the model up to the next one for it. True when there is one: it is then in flight. */
  answerPlain(): boolean {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      if (next.samples === null) {
        this.#speech.interrupt();
        this.#tell(0, next);
        continue;
      }
      this.#backlog--;
      if (next.fresh) this.#speech.interrupt();
      const carried = this.#host.carry && !next.warmUp ? this.#speech.carry(next.levelDb) : null;
      if (carried === null) {
        this.#inFlight = next;
        return true;
      }
      this.#host.give(next.samples);
      this.#host.counters.carriedWindows++;
      this.#tell(carried, next);
    }
    this.#queued = false;
    return false;
  }

  /** Writes the window in flight and the model's memory into row `row` of a batch of `size`. */
  load({ samples, before }: BatchRows, row: number, size: number): void {
    const { samples: window, fresh } = this.#inFlight!;
    const length = this.#context + VAD_WINDOW_SAMPLES;
    for (let i = 0, to = row * length; i < length; i++) samples[to + i] = MODEL_SAMPLES[window![i]!]!;
    if (fresh) this.#forgetMemory();
    for (let part = 0; part < this.#memory.length; part++) {
      const own = this.#memory[part]!;
      const all = before[part]!;
      const width = own.length / 2;
      for (let layer = 0; layer < 2; layer++) {
        const to = (layer * size + row) * width;
        for (let i = 0; i < width; i++) all[to + i] = own[layer * width + i]!;
      }
    }
  }

  /** Takes the answer and the model's memory from row `row` of a batch of `size`. */
  store({ probabilities, after }: BatchRows, row: number, size: number): void {
    for (let part = 0; part < this.#memory.length; part++) {
      const own = this.#memory[part]!;
      const all = after[part]!;
      const width = own.length / 2;
      for (let layer = 0; layer < 2; layer++) {
        const from = (layer * size + row) * width;
        for (let i = 0; i < width; i++) own[layer * width + i] = all[from + i]!;
      }
    }
    const done = this.#land();
    if (done.warmUp) return;
    const probability = probabilities[row]!;
    this.#speech.heard(probability, done.levelDb);
    this.#tell(probability, done);
  }

  /** The model failed on the window in flight. */
  forget(): void {
    this.#forgetMemory();
    this.#speech.interrupt();
    this.#land();
  }

  #land(): Pending {
    const done = this.#inFlight!;
    this.#inFlight = null;
    this.#host.give(done.samples!);
    this.#queued = this.#pending.length > 0;
    if (this.#queued) this.#host.ready(this);
    return done;
  }

  #forgetMemory(): void {
    for (const part of this.#memory) part.fill(0);
  }

  #tell(probability: number, { endSample, levelDb }: Pending): void {
    if (this.#closed) return;
    this.#host.counters.windows++;
    this.#onWindow(probability, endSample, levelDb);
  }
}
