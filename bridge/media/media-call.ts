// One call on its media thread, made of three by flow: the caller's sound in (caller-stream.ts), the agent's voice out
// (agent-voice.ts), and the talk between them and the model (talk.ts). Here they are put together, given the carrier's stream
// and its messages, ticked, and let go.
import { createHash, timingSafeEqual } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { EchoGuard } from '../../audio/echo-guard.ts';
import type { AudioFormat } from '../../audio/format.ts';
import type { Vad } from '../../audio/vad/vad.ts';
import type { MediaMessage, MediaWire } from '../carriers/media-wire.ts';
import type { ModelConfig, ModelListener, ModelSession } from '../models/model.ts';
import type { CallStats, EndReason, FromMedia, PrepareCall, StreamLoss } from '../protocol/messages.ts';
import type { FrameSocket } from '../sockets/frame-socket.ts';
import { Floor } from '../turns/floor.ts';
import type { TurnEvent, TurnRules } from '../turns/turns.ts';
import { AgentVoice } from './agent-voice.ts';
import { CallRecorder } from './call-recorder.ts';
import { CallerAudio } from './caller-audio.ts';
import { CallerClock } from './caller-clock.ts';
import { CallerStream } from './caller-stream.ts';
import { CarrierLine } from './carrier-line.ts';
import type { FrameAges } from './frame-age.ts';
import type { FrameClock } from './frame-clock.ts';
import { cutOffOf, takenUp } from './resumed-talk.ts';
import { Talk } from './talk.ts';
import { TalkRecord } from './talk-record.ts';

/** How often the control thread is told that the call is looked after. */
const ALIVE_EVERY_MS = 5_000;

type Started = Extract<MediaMessage, { type: 'started' }>;

/** What a call has of its thread. */
export interface MediaCallPorts {
  /** What the carrier's line takes, and brings where a stream does not say otherwise. */
  format: AudioFormat;
  clock: FrameClock;
  vad: Vad;
  openModel(name: string, config: ModelConfig, listener: ModelListener, callId: string): ModelSession;
  post(message: FromMedia): void;
  rules: TurnRules;
  counters: { framesIn: number; framesOut: number };
  frameAges: FrameAges;
}

export class MediaCall {
  readonly callId: string;
  /** Name of the carrier whose stream it is. */
  readonly carrier: string;
  readonly #plan: PrepareCall;
  readonly #ports: MediaCallPorts;
  readonly #preparedAt = performance.now();
  readonly #echo = new EchoGuard();
  readonly #recorder: CallRecorder;
  readonly #record: TalkRecord;
  readonly #voice: AgentVoice;
  readonly #talk: Talk;
  readonly #stopTicking: () => void;
  #tokenHash: Buffer | null;
  #startedAt: number | null = null;
  /** The carrier's stream and the caller's sound of it; null while there is none. */
  #stream: { line: CarrierLine; caller: CallerStream } | null = null;
  /** Milliseconds since the first stream's start; before it, since the call was prepared. */
  readonly #now = (): number => performance.now() - (this.#startedAt ?? this.#preparedAt);
  /** When anything came last of a stream that is gone. */
  #lineHeardMs = 0;
  #failing = false;
  #aliveAt = 0;
  #released: Promise<void> | null = null;
  readonly #totals = { framesIn: 0, filledMs: 0, duplicateFrames: 0, lateFrames: 0, malformedMessages: 0 };
  #lateTickMs = 0;

  /** Prepares a call, or one that goes on here: its model session is opened at once. */
  constructor(prepared: PrepareCall, ports: MediaCallPorts) {
    const plan = takenUp(prepared);
    const { resumed } = plan;
    this.callId = plan.callId;
    this.carrier = plan.carrier;
    this.#plan = plan;
    if (resumed !== null) this.#startedAt = this.#preparedAt - resumed.elapsedMs;
    this.#ports = ports;
    this.#tokenHash = Buffer.from(plan.tokenHash, 'hex');
    const { callId } = plan;
    const { post } = ports;
    const now = this.#now;
    const floor = new Floor(
      {
        greets: plan.texts.greeting !== null,
        plan: plan.machine,
        cutOff: cutOffOf(resumed),
        discloses: plan.disclosure !== null,
      },
      ports.rules,
    );
    this.#recorder = new CallRecorder({
      path: plan.recordingPath,
      fromMs: resumed?.elapsedMs ?? 0,
      now,
      onError(error) {
        const fields = { call_id: callId, error: String(error) };
        post({ type: 'log', level: 'error', event: 'recording.not_opened', fields });
      },
    });
    this.#record = new TalkRecord({ callId, post, now, newId, mayOptOut: plan.mayOptOut });
    this.#voice = new AgentVoice({
      format: ports.format,
      floor,
      echo: this.#echo,
      recorder: this.#recorder,
      recentLateMs: () => ports.clock.recentLateMs(),
      onStart: this.#record.sent,
      counters: ports.counters,
    });
    this.#talk = new Talk(plan, {
      floor,
      voice: this.#voice,
      record: this.#record,
      format: ports.format,
      openModel: (config, listener) =>
        ports.openModel(plan.modelName, { ...config, line: ports.format }, listener, callId),
      post,
      now,
    });
    this.#stopTicking = ports.clock.add((dueMs) => this.#onTick(dueMs));
  }

  /** Another stream of the same call will come, with a new token. */
  expectStream(tokenHash: string): void {
    this.#tokenHash = Buffer.from(tokenHash, 'hex');
  }

  /**
   * A stream says which call it belongs to. False when its token is wrong or was used.
   * From then on the socket is the call's.
   */
  attach(socket: FrameSocket, wire: MediaWire, started: Started): boolean {
    if (!this.#takeToken(started.parameters.token ?? '')) return false;
    // The one before is over, though its end was not heard of.
    this.detach('lost');
    this.#startedAt ??= performance.now();
    const nowMs = this.#now();
    const line = new CarrierLine({ socket, wire, streamId: started.streamId }, nowMs);
    const clock = new CallerClock(nowMs);
    const audio = new CallerAudio({
      talk: this.#talk,
      clock,
      echo: this.#echo,
      recorder: this.#recorder,
      vad: this.#ports.vad,
      format: started.format,
    });
    const caller = new CallerStream({
      audio,
      clock,
      ages: this.#ports.frameAges.stream(),
      format: started.format,
    });
    this.#stream = { line, caller };
    this.#voice.attach(line, clock);
    this.#recorder.start();
    this.#ports.post({
      type: 'media-started',
      callId: this.callId,
      streamId: started.streamId,
      carrierCallId: started.carrierCallId,
      at: new Date().toISOString(),
      atMs: nowMs,
    });
    this.#talk.streamStarted(started.format);
    return true;
  }

  /** A message of the attached socket. */
  media(message: MediaMessage): void {
    switch (message.type) {
      case 'audio': {
        if (this.#stream === null) return;
        const { line, caller } = this.#stream;
        const nowMs = this.#now();
        line.frame(nowMs);
        this.#totals.framesIn++;
        this.#ports.counters.framesIn++;
        caller.frame(message.payload, message.timestampMs, message.chunk, nowMs);
        return;
      }
      case 'mark':
        this.#talk.markBack(message.name);
        return;
      case 'digit':
        this.#talk.digit(message.digit);
        return;
      case 'text':
        this.#talk.typed(message.text);
        return;
      case 'malformed':
        this.#totals.malformedMessages++;
        return;
      default:
        return;
    }
  }

  /** The attached socket has gone, or is given up; the talk goes on. */
  detach(how: 'stopped' | 'lost', why: StreamLoss = 'closed'): void {
    if (this.#stream === null) return;
    this.#closeStream();
    this.#talk.streamPaused();
    if (!this.#talk.away) this.#tellStreamEnded(how, why);
  }

  machineDetection(verdict: Extract<TurnEvent, { type: 'machine-detection' }>['verdict']): void {
    this.#talk.machineDetection(verdict);
  }

  toolResult(toolCallId: string, output: string): void {
    const { away } = this.#talk;
    this.#talk.toolResult(toolCallId, output);
    // Back, or it never left: the carrier refused. Whoever hung up meanwhile did not leave for that.
    if (away && !this.#talk.away && this.#stream === null) this.#tellStreamEnded('lost', 'closed');
  }

  /** Ends the talk: at once, or after the agent has said a line. */
  finish(reason: EndReason, say: string | null): void {
    this.#talk.finish(reason, say);
  }

  /** Ends the recording here; the call goes on. */
  stopRecording(): void {
    void this.#recorder.close(this.#now());
  }

  /** Closes everything, then says `released`. Safe to call twice. */
  release(): Promise<void> {
    this.#released ??= this.#close();
    return this.#released;
  }

  async #close(): Promise<void> {
    const endMs = this.#now();
    this.#stopTicking();
    const closing = this.#talk.close();
    this.#closeStream();
    const recording = await this.#recorder.close(endMs);
    await closing;
    const stats: CallStats = {
      ...this.#totals,
      framesOut: this.#voice.frames,
      bargeIns: this.#record.bargeIns,
      falseBargeIns: this.#record.falseBargeIns,
      falsePauses: this.#record.falsePauses,
      earlyAnswers: this.#record.earlyAnswers,
      thrownAwayAnswers: this.#record.thrownAwayAnswers,
      recordingFrames: recording?.frames ?? 0,
      recordingDropped: recording?.dropped ?? 0,
      lateTickMs: Math.round(this.#lateTickMs),
    };
    const recorded = recording && { frames: recording.frames };
    this.#ports.post({ type: 'released', callId: this.callId, stats, recording: recorded });
  }

  /** Whether this is the token of the stream that is awaited. */
  expects(token: string): boolean {
    const given = createHash('sha256').update(token).digest();
    return this.#tokenHash !== null && this.#released === null && timingSafeEqual(given, this.#tokenHash);
  }

  #takeToken(token: string): boolean {
    if (!this.expects(token)) return false;
    this.#tokenHash = null;
    return true;
  }

  #onTick(dueMs: number): void {
    const at = performance.now();
    if (at - dueMs > this.#lateTickMs) this.#lateTickMs = at - dueMs;
    try {
      this.#tick(at - (this.#startedAt ?? this.#preparedAt));
      this.#failing = false;
    } catch (error) {
      // One that fails at every tick is not alive any more, and is ended for that.
      const fields = { call_id: this.callId, err: String((error as Error).stack ?? error) };
      if (!this.#failing)
        this.#ports.post({ type: 'log', level: 'error', event: 'media.tick_failed', fields });
      this.#failing = true;
      return;
    }
    if (dueMs < this.#aliveAt) return;
    this.#aliveAt = dueMs + ALIVE_EVERY_MS;
    this.#ports.post({ type: 'alive', callId: this.callId });
  }

  #tick(nowMs: number): void {
    this.#recorder.tick(nowMs);
    if (this.#stream === null) {
      this.#talk.tick(nowMs, nowMs);
      return;
    }
    const { line, caller } = this.#stream;
    const heardMs = caller.tick(nowMs);
    this.#voice.pace(nowMs);
    // Another may carry.
    if (line.state === 'media_timeout' || line.state === 'carrier_backpressure')
      this.detach('lost', line.state);
    if (nowMs > this.#plan.maxSeconds * 1000) this.#talk.finish('max_duration', null);
    this.#talk.tick(nowMs, heardMs);
  }

  #closeStream(): void {
    if (this.#stream === null) return;
    const { line, caller } = this.#stream;
    this.#stream = null;
    this.#lineHeardMs = line.heardMs;
    this.#voice.detach(this.#now());
    const mended = caller.close();
    this.#totals.filledMs += mended.filledMs;
    this.#totals.duplicateFrames += mended.duplicateFrames;
    this.#totals.lateFrames += mended.lateFrames;
    line.close();
  }

  #tellStreamEnded(how: 'stopped' | 'lost', why: StreamLoss): void {
    const atMs = this.#lineHeardMs;
    this.#ports.post({ type: 'stream-ended', callId: this.callId, how, why, atMs });
  }
}
