// One call on its media thread: the carrier's stream in, through gap filling, VAD and pre-roll, to the conversation;
// the agent's voice out at the pace of the line. Holds the wiring; rules and codecs are elsewhere.
import { createHash, timingSafeEqual } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { WebSocket } from 'ws';
import { BeepDetector } from '../../audio/beep.ts';
import { EchoGuard } from '../../audio/echo-guard.ts';
import { decodeMulaw, FRAME_BYTES, FRAME_MS } from '../../audio/g711.ts';
import { GapFiller } from '../../audio/gap-filler.ts';
import { Preroll } from '../../audio/preroll.ts';
import type { Vad, VadLane } from '../../audio/vad/vad.ts';
import type { MediaMessage, MediaWire } from '../carriers/media-wire.ts';
import type { ModelConfig, ModelListener, ModelSession } from '../models/model.ts';
import type { CallStats, EndReason, FromMedia, PrepareCall } from '../protocol/messages.ts';
import type { TurnRules } from '../turns/turns.ts';
import { type CallRecorder, openCallRecorder } from './call-recorder.ts';
import { createCallerVoice } from './caller-voice.ts';
import type { FrameAges, StreamAges } from './frame-age.ts';
import type { FrameClock } from './frame-clock.ts';
import { createLineWatch, type LineWatch } from './line-watch.ts';
import { openTalk, type Talk } from './talk.ts';

/**
 * Audio at the carrier beyond what it has played: what the other side still hears after a hold, and what covers a late tick.
 * A thread that has run late lately gives all its lines more of it; a line that ran dry because of us, step by step.
 */
const LEAD_MS = 120;
const LEAD_STEP_MS = 40;
const MOST_LEAD_MS = 320;
/** Between the latest tick of late and the end of what the carrier has. */
const LEAD_MARGIN_MS = 60;
/** Frames a message to the carrier. */
const FRAMES_A_MESSAGE = 2;
const MESSAGE_MS = FRAMES_A_MESSAGE * FRAME_MS;
/** A carrier that does not answer the closing of its socket is not waited for. */
const CLOSE_TIMEOUT_MS = 2_000;
const DEAD_LINE = {
  media_timeout: 'No audio came from the carrier any more.',
  carrier_backpressure: 'The carrier stopped taking audio.',
} as const;
/** Speech over the agent's voice becomes a turn from its onset on, when it has lasted or the agent has finished. */
const PREROLL_KEPT_MS = 4_000;

/**
 * Without a frame for this long the line sends none: a pause of its carrier, and nothing to be listened to. TCP sends a lost
 * segment again sooner; a carrier that sends no silence has its callers answered so much later.
 */
const NO_SOUND_MS = 500;

/** How often the control thread is told that the call is looked after. */
const ALIVE_EVERY_MS = 5_000;

/** What carries the socket: messages sent between the two go out in one write. */
export interface Transport {
  cork(): void;
  uncork(): void;
}

/** Every message in a write of its own. */
const SEPARATELY: Transport = { cork() {}, uncork() {} };

interface Stream {
  socket: WebSocket;
  transport: Transport;
  wire: MediaWire;
  id: string;
}

export interface MediaCallPorts {
  clock: FrameClock;
  vad: Vad;
  openModel(name: string, config: ModelConfig, listener: ModelListener, callId: string): ModelSession;
  post(message: FromMedia): void;
  rules: TurnRules;
  counters: { framesIn: number; framesOut: number };
  frameAges: FrameAges;
}

export interface MediaCall {
  readonly callId: string;
  /** Name of the carrier whose stream it is. */
  readonly carrier: string;
  expectStream(tokenHash: string): void;
  /**
   * A stream says which call it belongs to. False when its token is wrong or was used.
   * From then on the socket is the call's.
   */
  attach(
    socket: WebSocket,
    wire: MediaWire,
    started: Extract<MediaMessage, { type: 'started' }>,
    transport?: Transport,
  ): boolean;
  /** A message of the attached socket. */
  media(message: MediaMessage): void;
  detach(how: 'stopped' | 'lost'): void;
  machineDetection(verdict: 'human' | 'machine' | 'machine_ready' | 'fax' | 'unknown'): void;
  toolResult(toolCallId: string, output: string): void;
  finish(reason: EndReason, say: string | null): void;
  /** Ends the recording here; the call goes on. */
  stopRecording(): void;
  /** Closes everything, then says `released`. Safe to call twice. */
  release(): Promise<void>;
}

/** Prepares a call: its model session is opened at once. */
export function openMediaCall(plan: PrepareCall, ports: MediaCallPorts): MediaCall {
  const { callId } = plan;
  const preparedAt = performance.now();
  let tokenHash: Buffer | null = Buffer.from(plan.tokenHash, 'hex');
  let startedAt: number | null = null;
  let stream: Stream | null = null;
  /** Where sample 0 of the current stream stands on the call's clock. */
  let streamOffsetMs = 0;
  let aheadUntilMs = 0;
  /** Something was left to send after the last tick: running dry before the next is our own doing. */
  let leftOver = false;
  let line: LineWatch = createLineWatch(0);
  let lineDead = false;
  let failing = false;
  let aliveAt = 0;
  let pausing = false;
  let released: Promise<void> | null = null;
  let malformed = 0;
  let lateTickMs = 0;
  let framesIn = 0;
  let framesOut = 0;
  let filler: GapFiller;
  let ages: StreamAges = ports.frameAges.stream();
  let lane: VadLane | null = null;
  let recorder: CallRecorder | null = null;
  let recordingEnd: ReturnType<CallRecorder['close']> | null = null;
  let beep: BeepDetector | null = null;
  const totals = { filledMs: 0, duplicateFrames: 0, lateFrames: 0 };
  const preroll = new Preroll(PREROLL_KEPT_MS);
  const pcm = new Int16Array(FRAME_BYTES * 4);
  const out = Buffer.alloc(FRAME_BYTES * FRAMES_A_MESSAGE);

  const echo = new EchoGuard();
  let leadMs = LEAD_MS;
  /** The caller's clock against ours, by the frames that came soonest: it drifts, and a carrier that stalls falls behind. */
  const callerClock = {
    aheadMs: 0,
    newestMs: Number.NEGATIVE_INFINITY,
    beforeMs: Number.NEGATIVE_INFINITY,
    sinceMs: 0,
  };

  function watchClock(nowMs: number): void {
    const clock = callerClock;
    clock.newestMs = Math.max(clock.newestMs, streamOffsetMs + filler.position / 8 - nowMs);
    if (nowMs - clock.sinceMs < 500) return;
    clock.beforeMs = clock.newestMs;
    clock.newestMs = Number.NEGATIVE_INFINITY;
    clock.sinceMs = nowMs;
  }

  const now = () => performance.now() - (startedAt ?? preparedAt);

  const conversation: Talk = openTalk(
    plan,
    {
      openModel: (config, listener) => ports.openModel(plan.modelName, config, listener, callId),
      post(message) {
        if (message.type === 'digits-requested' || message.type === 'transfer-requested') pausing = true;
        ports.post(message);
      },
      now,
      // The first sound of an answer does not wait for the tick.
      audioReady: () => pace(now()),
      clearCarrier() {
        if (stream === null) return;
        stream.socket.send(stream.wire.clear(stream.id));
        recorder?.timeline.cleared(now());
        echo.cleared(now() + callerClock.aheadMs);
        aheadUntilMs = 0;
      },
      preroll: (fromMs) => preroll.read(Math.max(0, streamOffsetMs + filler.position / 8 - fromMs)),
      newId,
    },
    ports.rules,
  );

  const voice = createCallerVoice(conversation, echo, ports.vad.speech);

  function decoded(payload: Uint8Array): Int16Array {
    const samples = payload.length <= pcm.length ? pcm : new Int16Array(payload.length);
    return samples.subarray(0, decodeMulaw(payload, samples));
  }

  function onSound(payload: Uint8Array, atSample: number, filled: boolean): void {
    lane?.push(payload);
    const atMs = streamOffsetMs + atSample / 8;
    if (echo.near(atMs)) echo.heard(decoded(payload), atMs);
    preroll.push(payload);
    conversation.callerAudio(payload);
    if (!filled) recorder?.timeline.caller(payload, atMs - filler.leadMs, now());
    if (conversation.waitingForBeep()) {
      beep ??= new BeepDetector();
      if (beep.push(decoded(payload)) !== null) conversation.beep();
    } else beep = null;
  }

  function newFiller(): GapFiller {
    return new GapFiller(onSound);
  }
  filler = newFiller();

  /** Hands the carrier what it is due: never more than the lead ahead of what it has played. */
  function pace(nowMs: number): void {
    if (stream === null) return;
    const { playout } = conversation;
    const state = line.look(nowMs, stream.socket.bufferedAmount);
    if (state === 'media_timeout' || state === 'carrier_backpressure') giveUp(state);
    if (state !== 'open') return;
    if (conversation.held()) {
      sendMark(playout.lastMark(), nowMs);
      leftOver = false;
      return;
    }
    if (aheadUntilMs < nowMs) {
      // It was our lateness if there was something to send all along.
      if (leftOver && playout.ready()) leadMs = Math.min(MOST_LEAD_MS, leadMs + LEAD_STEP_MS);
      aheadUntilMs = nowMs;
      const aheadMs = Math.max(callerClock.newestMs, callerClock.beforeMs);
      if (Number.isFinite(aheadMs)) callerClock.aheadMs = aheadMs;
    }
    const wantedMs = Math.max(leadMs, Math.min(MOST_LEAD_MS, ports.clock.recentLateMs() + LEAD_MARGIN_MS));
    if (aheadUntilMs - nowMs + MESSAGE_MS <= wantedMs && playout.ready()) {
      const { transport } = stream;
      transport.cork();
      try {
        sendDue(stream, nowMs, wantedMs);
      } finally {
        transport.uncork();
      }
    }
    leftOver = playout.ready();
  }

  function sendDue({ socket, wire, id }: Stream, nowMs: number, wantedMs: number): void {
    const { playout } = conversation;
    while (aheadUntilMs - nowMs + MESSAGE_MS <= wantedMs && playout.ready()) {
      const bytes = playout.take(out);
      if (bytes === 0) break;
      const payload = out.subarray(0, bytes);
      socket.send(wire.audio(id, payload));
      recorder?.timeline.agent(payload, nowMs);
      echo.played(payload, aheadUntilMs + callerClock.aheadMs);
      const frames = bytes / FRAME_BYTES;
      framesOut += frames;
      ports.counters.framesOut += frames;
      aheadUntilMs += frames * FRAME_MS;
      sendMark(playout.dueMark(), nowMs);
    }
  }

  function sendMark(mark: string | null, nowMs: number): void {
    if (mark === null || stream === null) return;
    stream.socket.send(stream.wire.mark(stream.id, mark));
    recorder?.timeline.mark(mark);
    line.markSent(nowMs);
  }

  function giveUp(reason: keyof typeof DEAD_LINE): void {
    if (lineDead) return;
    lineDead = true;
    ports.post({
      type: 'finished',
      callId,
      reason,
      errorCode: reason,
      errorMessage: DEAD_LINE[reason],
      speak: null,
    });
  }

  function onTick(dueMs: number): void {
    lateTickMs = Math.max(lateTickMs, performance.now() - dueMs);
    try {
      frame();
      failing = false;
    } catch (error) {
      // One that fails at every tick is not alive any more, and is ended for that.
      const fields = { call_id: callId, err: String((error as Error).stack ?? error) };
      if (!failing) ports.post({ type: 'log', level: 'error', event: 'media.tick_failed', fields });
      failing = true;
      return;
    }
    if (dueMs < aliveAt) return;
    aliveAt = dueMs + ALIVE_EVERY_MS;
    ports.post({ type: 'alive', callId });
  }

  function frame(): void {
    const nowMs = now();
    recorder?.tick(nowMs);
    if (stream !== null) {
      filler.tick(nowMs, voice.speaking());
      pace(nowMs);
      if (nowMs > plan.maxSeconds * 1000) conversation.finish('max_duration', null);
    }
    // What still waits, on the network or with the VAD, may be speech.
    const all = stream === null || filler.withoutFrameMs >= NO_SOUND_MS;
    const heardMs = voice.heardMs();
    conversation.tick(all ? Math.max(nowMs, heardMs) : heardMs);
  }
  const stopTicking = ports.clock.add(onTick);

  function closeStream(): void {
    if (stream === null) return;
    const { socket } = stream;
    stream = null;
    recorder?.timeline.cleared(now());
    totals.filledMs += filler.counters.filledMs;
    totals.duplicateFrames += filler.counters.duplicateFrames;
    totals.lateFrames += filler.counters.lateFrames;
    lane?.close();
    lane = null;
    socket.close(1000);
    const timer = setTimeout(() => socket.terminate(), CLOSE_TIMEOUT_MS);
    socket.once('close', () => clearTimeout(timer));
  }

  function endRecording(atMs: number): NonNullable<typeof recordingEnd> {
    recordingEnd ??= recorder?.close(atMs) ?? Promise.resolve(null);
    recorder = null;
    return recordingEnd;
  }

  return {
    callId,
    carrier: plan.carrier,
    expectStream(hash) {
      tokenHash = Buffer.from(hash, 'hex');
    },
    attach(socket, wire, started, transport = SEPARATELY) {
      const given = createHash('sha256')
        .update(started.parameters.token ?? '')
        .digest();
      if (tokenHash === null || released !== null || !timingSafeEqual(given, tokenHash)) return false;
      tokenHash = null;
      closeStream();
      startedAt ??= performance.now();
      stream = { socket, wire, id: started.streamId, transport };
      streamOffsetMs = now();
      line = createLineWatch(streamOffsetMs);
      aheadUntilMs = 0;
      pausing = false;
      filler = newFiller();
      ages = ports.frameAges.stream();
      voice.restart(streamOffsetMs);
      lane = ports.vad.openLane(voice.window);
      if (plan.recordingPath !== null && recordingEnd === null) {
        recorder ??= openCallRecorder(plan.recordingPath, (error) =>
          ports.post({
            type: 'log',
            level: 'error',
            event: 'recording.not_opened',
            fields: { call_id: callId, error: String(error) },
          }),
        );
      }
      ports.post({
        type: 'media-started',
        callId,
        streamId: started.streamId,
        carrierCallId: started.carrierCallId,
        at: new Date().toISOString(),
      });
      conversation.streamStarted();
      return true;
    },
    media(message) {
      switch (message.type) {
        case 'audio': {
          const nowMs = now();
          if (filler.position === 0) {
            streamOffsetMs = Math.max(0, nowMs - message.payload.length / 8);
            voice.shift(streamOffsetMs);
          }
          line.frame(nowMs);
          ages.frame(nowMs, message.timestampMs);
          framesIn++;
          ports.counters.framesIn++;
          filler.push(message.payload, message.timestampMs, message.chunk);
          watchClock(nowMs);
          return;
        }
        case 'mark':
          line.markBack(now());
          recorder?.timeline.markBack(message.name, now());
          conversation.markPlayed(message.name);
          return;
        case 'digit':
          conversation.digit(message.digit);
          return;
        case 'text':
          conversation.typed(message.text);
          return;
        case 'malformed':
          malformed++;
          return;
        default:
          return;
      }
    },
    detach(how) {
      if (stream === null) return;
      closeStream();
      conversation.streamPaused();
      if (!pausing) ports.post({ type: 'stream-ended', callId, how });
    },
    machineDetection: (verdict) => conversation.machineDetection(verdict),
    toolResult(toolCallId, output) {
      // Back, or it never left: the carrier refused. Whoever hung up meanwhile did not leave for that.
      if (pausing && stream === null) ports.post({ type: 'stream-ended', callId, how: 'lost' });
      pausing = false;
      conversation.toolResult(toolCallId, output);
    },
    finish: (reason, say) => conversation.finish(reason, say),
    stopRecording: () => void endRecording(now()),
    release() {
      released ??= (async () => {
        const endMs = now();
        stopTicking();
        const closing = conversation.close();
        closeStream();
        const recording = await endRecording(endMs);
        await closing;
        const stats: CallStats = {
          framesIn,
          framesOut,
          ...totals,
          malformedMessages: malformed,
          bargeIns: conversation.bargeIns(),
          falseBargeIns: conversation.falseBargeIns(),
          recordingFrames: recording?.frames ?? 0,
          recordingDropped: recording?.dropped ?? 0,
          lateTickMs: Math.round(lateTickMs),
        };
        ports.post({ type: 'released', callId, stats, recording: recording && { frames: recording.frames } });
      })();
      return released;
    },
  };
}
