// What tests that hold a media call give it where a part does not matter to them: its plan, a clock that ticks when told, an
// ear that hears nothing, a model that does nothing, a socket that takes everything. Each test says what differs.
import { createHash } from 'node:crypto';
import { MULAW_8K } from '../../../audio/format.ts';
import type { Vad } from '../../../audio/vad/vad.ts';
import type { FrameClock } from '../../../bridge/media/frame-clock.ts';
import type { ModelSession } from '../../../bridge/models/model.ts';
import type { PrepareCall } from '../../../bridge/protocol/messages.ts';
import type { FrameSocket } from '../../../bridge/sockets/frame-socket.ts';
import { FrameWriter } from '../../../bridge/sockets/frames.ts';
import { SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';

/** What a stream must bring for a call of `makePlan`. */
export const TOKEN = 'token';

/** A call that nobody records, with an agent that does not greet. */
export function makePlan({
  model,
  ...fields
}: Partial<Omit<PrepareCall, 'model'>> & { model?: Partial<PrepareCall['model']> } = {}): PrepareCall {
  const direction = fields.direction ?? 'inbound';
  return {
    callId: 'call-1',
    carrier: 'any',
    tokenHash: createHash('sha256').update(TOKEN).digest('hex'),
    direction,
    modelName: 'any',
    model: {
      url: '',
      apiKey: '',
      model: '',
      transcriptionModel: null,
      instructions: '',
      voice: '',
      language: null,
      tools: [],
      texts: SESSION_TEXTS,
      ...model,
    },
    texts: { ...talkTexts(direction, null), greeting: null },
    disclosure: null,
    mayOptOut: false,
    shortWords: { assents: null, stops: [] },
    machine: 'none',
    patience: 1,
    tuning: { patience: 'normal', eagerness: 'normal', interruption: 'normal' },
    transferTargets: {},
    recordingPath: null,
    maxSeconds: 3_600,
    resumed: null,
    ...fields,
  };
}

/** A clock that is never late, and ticks when it is told. */
export class HeldClock implements FrameClock {
  readonly #ticks = new Set<(nowMs: number) => void>();

  add(onFrame: (nowMs: number) => void): () => void {
    this.#ticks.add(onFrame);
    return () => this.#ticks.delete(onFrame);
  }

  tick(nowMs: number): void {
    for (const one of this.#ticks) one(nowMs);
  }

  recentLateMs(): number {
    return 0;
  }
}

/** Hears nothing, unless the test listens in its place. */
export const deafVad = (openLane: Vad['openLane'] = () => ({ push() {}, close() {} })): Vad => ({
  counters: { windows: 0, modelWindows: 0, carriedWindows: 0, runs: 0, droppedWindows: 0 },
  speech: { startProbability: 0.5, stopProbability: 0.3 },
  openLane,
  run: async () => {},
  close: async () => {},
});

/** Takes all it is given, and does what `fields` say alone. */
export const muteModel = (fields: Partial<ModelSession> = {}): ModelSession => ({
  capabilities: TURN_BY_TURN,
  takes: MULAW_8K,
  gives: MULAW_8K,
  open() {},
  appendAudio() {},
  clearAudio() {},
  endTurn: () => null,
  respond() {},
  say() {},
  interrupt() {},
  takeBack() {},
  addText() {},
  sendToolResult() {},
  busy: () => false,
  close: async () => {},
  ...fields,
});

/** Takes everything, and is closed as soon as it is asked to be. */
export function deadSocket(o: { close?(code: number): void } = {}): FrameSocket {
  const writer = new FrameWriter();
  const ws = {
    close: o.close ?? (() => {}),
    terminate() {},
    once(_event: string, listener: () => void) {
      listener();
      return ws;
    },
  };
  const socket = {
    ws,
    waitingBytes: 0,
    cork() {},
    uncork() {},
    send(write: (message: FrameWriter) => void) {
      write(writer);
      writer.drop();
    },
  };
  return socket as unknown as FrameSocket;
}
