// The agent's voice on its way out: queued as it comes from the model, handed to the carrier at the pace of the line, ducked or
// paused while the floor says so, cut, and heard by the carrier's marks. Who speaks when is the talk's business.
import { type Converter, createConverter } from '../../audio/converter.ts';
import { Ducking, type DuckingOptions } from '../../audio/ducking.ts';
import type { EchoGuard } from '../../audio/echo-guard.ts';
import { type AudioFormat, FRAME_MS, frameBytes, MULAW_8K } from '../../audio/format.ts';
import type { Floor } from '../turns/floor.ts';
import { type Cut, Playout } from '../turns/playout.ts';
import type { CallRecorder } from './call-recorder.ts';
import type { CallerClock } from './caller-clock.ts';
import type { LineState } from './line-watch.ts';

/**
 * Audio at the carrier beyond what it has played: what the other side still hears after a pause, and what covers a late tick.
 * A thread that has run late lately gives all its lines more of it; a line that ran dry because of us, step by step.
 */
const LEAD_MS = 120;
const LEAD_STEP_MS = 40;
const MOST_LEAD_MS = 320;
/** Between the latest tick of late and the end of what the carrier has. */
const LEAD_MARGIN_MS = 60;
/** Frames a message to the carrier. */
const FRAMES_A_MESSAGE = 2;
/** While the voice is ducked the carrier has so much less of it, in shorter messages: it may be paused any moment. */
const DUCKED_LEAD_LESS_MS = 60;
/** Low enough to leave the floor to another, loud enough to be understood: what is said so is not said again. */
const DUCKING: DuckingOptions = { lowDb: -14, fallMs: 20, riseMs: 120 };

/** Where the voice goes: a carrier's stream. */
export interface VoiceLine {
  look(nowMs: number): LineState;
  cork(): void;
  uncork(): void;
  audio(payload: Buffer): void;
  mark(name: string, nowMs: number): void;
  clear(): void;
  markBack(nowMs: number): void;
}

export interface AgentVoicePorts {
  /** What the line takes. */
  format: AudioFormat;
  floor: Pick<Floor, 'agentVoice'>;
  echo: EchoGuard;
  recorder: CallRecorder;
  /** The worst lateness of the thread's clock of late, in milliseconds. */
  recentLateMs(): number;
  /** Told when the first frame of an item is handed over. */
  onStart: (itemId: string) => void;
  /** Counts frames handed over, for the whole thread. */
  counters: { framesOut: number };
}

export class AgentVoice {
  /** Frames handed over. */
  frames = 0;
  readonly #ports: AgentVoicePorts;
  readonly #playout: Playout;
  readonly #frameBytes: number;
  readonly #out: Buffer;
  /** The first frame of it. */
  readonly #frame: Buffer;
  readonly #ducking: Ducking;
  /** For those who listen along: the recording and the echo guard. */
  readonly #toEar: Converter;
  #line: VoiceLine | null = null;
  #callerClock: CallerClock | null = null;
  /** By so much the caller's clock ran before ours when the stretch of sound began that goes on. */
  #callerLeadMs = 0;
  /** The end of what the carrier has, if it plays without a stop. */
  #aheadUntilMs = 0;
  #leadMs = LEAD_MS;
  /** Something was left to send after the last tick: running dry before the next is our own doing. */
  #leftOver = false;

  constructor(ports: AgentVoicePorts) {
    this.#ports = ports;
    const { format } = ports;
    this.#playout = new Playout(format, ports.onStart);
    this.#frameBytes = frameBytes(format);
    this.#out = Buffer.alloc(this.#frameBytes * FRAMES_A_MESSAGE);
    this.#frame = this.#out.subarray(0, this.#frameBytes);
    this.#ducking = new Ducking(format, DUCKING);
    this.#toEar = createConverter(format, MULAW_8K);
  }

  /** The voice goes to this stream from now on. @param callerClock the clock of the sound that comes with it */
  attach(line: VoiceLine, callerClock: CallerClock): void {
    this.#line = line;
    this.#callerClock = callerClock;
    this.#aheadUntilMs = 0;
    this.#ducking.restart();
  }

  /** The stream is gone: what it is not known to have played goes to the next. */
  detach(nowMs: number): void {
    if (this.#line === null) return;
    this.#line = null;
    this.#leftOver = false;
    this.#playout.rewind();
    this.#toEar.restart();
    this.#ports.recorder.lost();
    this.#ports.echo.cleared(nowMs + this.#callerLeadMs);
  }

  /** Adds sound of an item in what the line takes (copied). True when it is the first of it. */
  push(itemId: string, payload: Uint8Array): boolean {
    const first = !this.#playout.knows(itemId);
    this.#playout.push(itemId, payload);
    return first;
  }

  /** Nothing more of an item comes. True when with this all of it has been heard. */
  finish(itemId: string): boolean {
    return this.#playout.finish(itemId);
  }

  /** Hands the carrier what it is due, once per tick or when there is something new: never more than the lead ahead of what it has played. */
  pace(nowMs: number): void {
    const line = this.#line;
    if (line === null || line.look(nowMs) !== 'open') return;
    const playout = this.#playout;
    if (!playout.pending()) {
      this.#leftOver = false;
      this.#ducking.restart();
      return;
    }
    const how = this.#ports.floor.agentVoice;
    if (how === 'paused') {
      this.#mark(line, playout.lastMark(), nowMs);
      this.#leftOver = false;
      return;
    }
    const low = how === 'ducked';
    if (this.#aheadUntilMs < nowMs) this.#beginStretch(nowMs);
    const out = low ? this.#frame : this.#out;
    const untilMs = nowMs + this.#mostAheadMs(low) - (out.length / this.#frameBytes) * FRAME_MS;
    if (this.#aheadUntilMs <= untilMs && playout.ready()) {
      line.cork();
      try {
        while (this.#aheadUntilMs <= untilMs && playout.ready() && this.#send(line, out, low, nowMs));
      } finally {
        line.uncork();
      }
    }
    this.#mark(line, playout.dueMark(), nowMs);
    this.#leftOver = playout.ready();
  }

  /** Milliseconds of the voice that a mark confirms when it comes back; 0 when it tells nothing new. */
  confirmsMs(name: string): number {
    return this.#playout.confirmsMs(name);
  }

  /** A mark has come back. Answers the items that have now been heard to their end. */
  markBack(name: string, nowMs: number): readonly { itemId: string }[] {
    this.#line?.markBack(nowMs);
    this.#ports.recorder.markBack(name, nowMs);
    return this.#playout.markPlayed(name);
  }

  /** Drops all that was not heard, here and at the carrier. Answers what was cut, oldest first. */
  cut(nowMs: number): Cut[] {
    if (this.#line !== null && this.#playout.pending()) {
      this.#line.clear();
      this.#ports.recorder.cleared(nowMs);
      this.#ports.echo.cleared(nowMs + this.#callerLeadMs);
      this.#toEar.restart();
      this.#ducking.restart();
      this.#aheadUntilMs = 0;
    }
    return this.#playout.clear();
  }

  /** What there is so far of the item that is being heard; null: none is. */
  hearing(): Cut | null {
    return this.#playout.hearing();
  }

  /** Anything received and not yet heard. */
  pending(): boolean {
    return this.#playout.pending();
  }

  /** All that the carrier was given has been heard. */
  sentIsHeard(): boolean {
    return this.#playout.sentIsHeard();
  }

  /** Milliseconds received of an item. */
  receivedMs(itemId: string): number {
    return this.#playout.receivedMs(itemId);
  }

  /** So much the carrier may have that it has not played; a thread's lateness is covered however low the voice is. */
  #mostAheadMs(low: boolean): number {
    const lateMs = this.#ports.recentLateMs() + LEAD_MARGIN_MS;
    const leadMs = low ? this.#leadMs - DUCKED_LEAD_LESS_MS : this.#leadMs;
    return Math.max(leadMs, Math.min(MOST_LEAD_MS, lateMs));
  }

  /** The carrier has nothing left to play. */
  #beginStretch(nowMs: number): void {
    // It was our lateness if there was something to send all along.
    if (this.#leftOver && this.#playout.ready())
      this.#leadMs = Math.min(MOST_LEAD_MS, this.#leadMs + LEAD_STEP_MS);
    this.#aheadUntilMs = nowMs;
    this.#callerLeadMs = this.#callerClock?.leadMs ?? this.#callerLeadMs;
  }

  /** One message, in `out`. False when there was nothing to send. */
  #send(line: VoiceLine, out: Buffer, low: boolean, nowMs: number): boolean {
    const bytes = this.#playout.take(out);
    if (bytes === 0) return false;
    const payload = bytes === out.length ? out : out.subarray(0, bytes);
    this.#ducking.apply(payload, low);
    line.audio(payload);
    const mulaw = this.#toEar.convert(payload);
    this.#ports.recorder.agent(mulaw, nowMs);
    this.#ports.echo.played(mulaw, this.#aheadUntilMs + this.#callerLeadMs);
    const frames = bytes / this.#frameBytes;
    this.frames += frames;
    this.#ports.counters.framesOut += frames;
    this.#aheadUntilMs += frames * FRAME_MS;
    this.#mark(line, this.#playout.dueMark(), nowMs);
    return true;
  }

  #mark(line: VoiceLine, name: string | null, nowMs: number): void {
    if (name === null) return;
    line.mark(name, nowMs);
    this.#ports.recorder.mark(name);
  }
}
