// PURE. One call's place in the VAD batch: its windows in their order, what the model may remember of it, and an energy gate that
// answers silence without the model; plain-speech.ts answers for it in the middle of speech. Its runs are batch.ts.
import { MULAW_SILENCE, RATE_HZ } from '../format.ts';
import { mulawLevelDb, NoiseFloor } from '../levels.ts';
import type { VadEngine } from './engine.ts';
import { PlainSpeech } from './plain-speech.ts';
import type { OnWindow, VadLane } from './vad.ts';

/** 32 ms at 8 kHz: what the model was made for. */
export const VAD_WINDOW_SAMPLES = 256;
const WINDOW_MS = (VAD_WINDOW_SAMPLES / RATE_HZ) * 1000;

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

/** A window on its way to its answer. The host keeps those that are done for those that come, buffers and all. */
export interface Waiting {
  /** The window behind its context, mu-law: only what the model sees is decoded. */
  readonly samples: Uint8Array;
  /** What it is for: an answer by the model, one without it, or before an onset the model's memory alone. */
  purpose: 'ask' | 'gated' | 'warm-up';
  endSample: number;
  levelDb: number;
  /** The model's memory starts anew with this window. */
  fresh: boolean;
}

export function newWaiting(contextSamples: number): Waiting {
  return {
    samples: new Uint8Array(contextSamples + VAD_WINDOW_SAMPLES),
    purpose: 'ask',
    endSample: 0,
    levelDb: 0,
    fresh: false,
  };
}

/** What the batch does for its lanes. */
export interface LaneHost {
  gate: boolean;
  carry: boolean;
  contextSamples: number;
  engine: Pick<VadEngine, 'openMemory' | 'closeMemory' | 'load'>;
  counters: { windows: number; carriedWindows: number; droppedWindows: number };
  /** A window to fill, whatever is in it, and its way back: shared by all lanes. */
  take(): Waiting;
  give(window: Waiting): void;
  /** There is something to answer. Not said again before `answerPlain` answered false. */
  ready(lane: QueuedLane): void;
}

export class QueuedLane implements VadLane {
  readonly #onWindow: OnWindow;
  readonly #host: LaneHost;
  readonly #memory: number;
  readonly #context: number;
  readonly #floor = new NoiseFloor();
  readonly #speech = new PlainSpeech();
  readonly #pending: Waiting[] = [];
  #backlog = 0;
  #window: Waiting;
  #filled = 0;
  #endSample = 0;
  /** The last gated windows, in case the next one is an onset. */
  readonly #before: Waiting[] = [];
  #hangover = 0;
  #gatedWindows = 0;
  /** In the host's list, or in flight: either way the host will ask again. */
  #queued = false;
  #inFlight: Waiting | null = null;
  /** What is in the model's memory is nothing of this call's, or nothing to go on from. */
  #forgotten = true;
  #closed = false;

  constructor(onWindow: OnWindow, host: LaneHost) {
    this.#onWindow = onWindow;
    this.#host = host;
    this.#context = host.contextSamples;
    this.#memory = host.engine.openMemory();
    this.#window = host.take();
    this.#window.samples.fill(MULAW_SILENCE);
  }

  push(mulaw: Uint8Array): void {
    if (this.#closed) return;
    for (let from = 0; from < mulaw.length; ) {
      const { samples } = this.#window;
      const count = Math.min(VAD_WINDOW_SAMPLES - this.#filled, mulaw.length - from);
      const at = this.#context + this.#filled;
      for (let i = 0; i < count; i++) samples[at + i] = mulaw[from + i]!;
      this.#filled += count;
      from += count;
      if (this.#filled === VAD_WINDOW_SAMPLES) this.#completeWindow();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#host.engine.closeMemory(this.#memory);
    this.#host.give(this.#window);
    for (const window of this.#before.splice(0)) this.#host.give(window);
    for (const window of this.#pending.splice(0)) this.#host.give(window);
  }

  #completeWindow(): void {
    const window = this.#window;
    const { samples } = window;
    const levelDb = mulawLevelDb(samples, this.#context);
    this.#endSample += VAD_WINDOW_SAMPLES;
    this.#filled = 0;
    if (this.#isOpen(levelDb)) {
      let fresh = this.#gatedWindows >= RESET_WINDOWS;
      for (const before of this.#before) {
        before.fresh = fresh;
        fresh = false;
        this.#enqueue(before, 'warm-up', levelDb);
      }
      this.#before.length = 0;
      this.#gatedWindows = 0;
      window.fresh = fresh;
      this.#enqueue(window, 'ask', levelDb);
      this.#window = this.#host.take();
    } else {
      this.#gatedWindows++;
      // Kept in case an onset is next; what is answered is another.
      this.#before.push(window);
      this.#enqueue(this.#host.take(), 'gated', levelDb);
      this.#window = this.#before.length > WARM_UP_WINDOWS ? this.#before.shift()! : this.#host.take();
    }
    // The sound goes on in the next window, whether the model sees this one or not.
    const next = this.#window.samples;
    for (let i = 0; i < this.#context; i++) next[i] = samples[VAD_WINDOW_SAMPLES + i]!;
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

  #enqueue(window: Waiting, purpose: Waiting['purpose'], levelDb: number): void {
    window.purpose = purpose;
    window.endSample = this.#endSample;
    window.levelDb = levelDb;
    this.#pending.push(window);
    if (purpose !== 'gated' && ++this.#backlog > MAX_BACKLOG) this.#dropOldest();
    if (this.#queued) return;
    this.#queued = true;
    this.#host.ready(this);
  }

  #dropOldest(): void {
    const at = this.#pending.findIndex(({ purpose }) => purpose !== 'gated');
    const [dropped] = this.#pending.splice(at, 1);
    this.#host.give(dropped!);
    const next = this.#pending.find(({ purpose }) => purpose !== 'gated');
    if (next !== undefined) next.fresh = true;
    this.#backlog--;
    this.#host.counters.droppedWindows++;
  }

  /** Answers windows without the model up to the next one for it. True when there is one: it is then in flight. */
  answerPlain(): boolean {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) {
      if (next.purpose === 'gated') {
        this.#speech.interrupt();
        this.#done(next, 0);
        continue;
      }
      this.#backlog--;
      if (next.fresh) this.#speech.interrupt();
      const carried = this.#host.carry && next.purpose === 'ask' ? this.#speech.carry(next.levelDb) : null;
      if (carried === null) {
        this.#inFlight = next;
        return true;
      }
      this.#host.counters.carriedWindows++;
      this.#done(next, carried);
    }
    this.#queued = false;
    return false;
  }

  /** Gives the window in flight to the engine, as row `row` of its next run. */
  load(row: number): void {
    const { samples, fresh } = this.#inFlight!;
    this.#host.engine.load(row, this.#memory, samples, fresh || this.#forgotten);
    this.#forgotten = false;
  }

  /** Takes the model's answer to the window in flight. */
  answer(probability: number): void {
    const { purpose, levelDb } = this.#inFlight!;
    if (purpose === 'ask') this.#speech.heard(probability, levelDb);
    this.#land(probability);
  }

  /** The model failed on the window in flight: it is passed over. */
  forget(): void {
    this.#forgotten = true;
    this.#speech.interrupt();
    this.#land(null);
  }

  #land(probability: number | null): void {
    const landed = this.#inFlight!;
    this.#inFlight = null;
    this.#queued = this.#pending.length > 0;
    if (this.#queued) this.#host.ready(this);
    this.#done(landed, landed.purpose === 'ask' ? probability : null);
  }

  /** Gives a window back, and tells what it is answered with: nothing, when it is null. */
  #done(window: Waiting, probability: number | null): void {
    const { purpose, endSample, levelDb, samples } = window;
    this.#host.give(window);
    if (this.#closed || probability === null) return;
    this.#host.counters.windows++;
    // In one that is gated is another's sound.
    this.#onWindow(probability, endSample, levelDb, purpose === 'gated' ? undefined : samples);
  }
}
