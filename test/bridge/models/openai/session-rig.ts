// A session with a listener that records, and timers that only move when the test says so.

import type { Test } from 'tap';
import { MULAW_8K } from '../../../../audio/format.ts';
import type { ModelConfig, ModelListener, ModelSession } from '../../../../bridge/models/model.ts';
import { openOpenAISession } from '../../../../bridge/models/openai/session.ts';
import type { Timers } from '../../../../bridge/models/openai/socket.ts';
import { SESSION_TEXTS } from '../../../../control/agents/texts/moments.ts';
import { type Json, type Peer, type PeerSocket, startPeer } from './model-peer.ts';

export const CONFIG: ModelConfig = {
  line: MULAW_8K,
  url: 'set by the rig',
  apiKey: 'key-of-the-test',
  model: 'gpt-realtime-2.1',
  transcriptionModel: 'gpt-transcribe',
  instructions: 'You are Ada.',
  voice: 'marin',
  language: 'en',
  tools: [
    { name: 'end_call', description: 'Ends the call.', parameters: { type: 'object', properties: {} } },
  ],
  texts: SESSION_TEXTS,
};

export type Heard = [name: keyof ModelListener, ...args: unknown[]];

export interface Recorder {
  events: Heard[];
  /** How often a response was asked for: no event of its own, so that what the model did can be read as one list. */
  asked: { count: number };
  /** Resolves with the arguments of the next untaken call of that name. */
  take(name: keyof ModelListener): Promise<unknown[]>;
  listener: ModelListener;
}

export function recorder(): Recorder {
  const events: Heard[] = [];
  const asked = { count: 0 };
  const untaken: Heard[] = [];
  const takers: { name: string; resolve: (args: unknown[]) => void }[] = [];
  const note =
    (name: keyof ModelListener) =>
    (...args: unknown[]) => {
      // A payload is only valid during the call.
      const kept: Heard = [name, ...args.map((arg) => (Buffer.isBuffer(arg) ? arg.toString('hex') : arg))];
      events.push(kept);
      const at = takers.findIndex((taker) => taker.name === name);
      if (at >= 0) takers.splice(at, 1)[0]!.resolve(kept.slice(1));
      else untaken.push(kept);
    };
  return {
    events,
    asked,
    take: (name) =>
      new Promise((resolve) => {
        const at = untaken.findIndex((one) => one[0] === name);
        if (at >= 0) resolve(untaken.splice(at, 1)[0]!.slice(1));
        else takers.push({ name, resolve });
      }),
    listener: {
      ready: note('ready'),
      audio: note('audio'),
      audioDone: note('audioDone'),
      text: note('text'),
      textDone: note('textDone'),
      callerText: note('callerText'),
      callerSpeech: note('callerSpeech'),
      toolCall: note('toolCall'),
      requested: () => void asked.count++,
      responseDone: note('responseDone'),
      usage: note('usage'),
      reconnecting: note('reconnecting'),
      failed: note('failed'),
    },
  };
}

export interface HeldTimers extends Timers {
  now(): number;
  /** Moves time on and runs what falls due, in order. */
  advance(ms: number): void;
  pending(): number;
}

function holdTimers(): HeldTimers {
  let now = 1_000;
  let timers: { at: number; run: () => void }[] = [];
  return {
    now: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => {
        timers = timers.filter((one) => one !== timer);
      };
    },
    advance(ms) {
      const until = now + ms;
      for (;;) {
        const due = timers.filter((one) => one.at <= until).sort((a, b) => a.at - b.at)[0];
        if (!due) break;
        timers = timers.filter((one) => one !== due);
        now = Math.max(now, due.at);
        due.run();
      }
      now = until;
    },
    pending: () => timers.length,
  };
}

export interface Rig extends Recorder {
  session: ModelSession;
  peer: Peer;
  timers: HeldTimers;
  /** Opens, accepts and waits until ready. */
  connect(): Promise<PeerSocket>;
  /** Everything sent so far has been dealt with by the session, and its answers have come. */
  settle(socket: PeerSocket): Promise<void>;
  /** Time passes, and the line lives. */
  pass(socket: PeerSocket, ms: number): Promise<void>;
}

export async function openRig(
  t: Test,
  o: { config?: Partial<ModelConfig>; renewAfterSeconds?: number } = {},
): Promise<Rig> {
  const peer = await startPeer(t);
  const made = recorder();
  const timers = holdTimers();
  const config = { ...CONFIG, url: peer.url, ...o.config };
  const session = openOpenAISession(config, made.listener, {
    timers,
    now: timers.now,
    ...(o.renewAfterSeconds === undefined ? {} : { renewAfterSeconds: o.renewAfterSeconds }),
  });
  t.teardown(() => session.close());
  return {
    ...made,
    session,
    peer,
    timers,
    async connect() {
      session.open();
      const socket = await peer.accept();
      await made.take('ready');
      return socket;
    },
    // Frames keep their order both ways: the pong comes after all that the events before it have caused.
    settle: (socket) => socket.ping(),
    async pass(socket, ms) {
      for (let left = ms; left > 0; left -= 1_000) {
        await socket.ping();
        timers.advance(Math.min(left, 1_000));
      }
    },
  };
}

/** mu-law bytes that differ, so that order and loss show. */
export function speech(ms: number, seed = 0): Buffer {
  return Buffer.from(Array.from({ length: ms * 8 }, (_, i) => (i * 31 + seed * 7) & 0xff));
}

/** Everything appended on a socket, joined. */
export function appended(socket: PeerSocket): Buffer {
  return Buffer.concat(
    socket.received
      .filter((event) => event.type === 'input_audio_buffer.append')
      .map((event) => Buffer.from(String(event.audio), 'base64')),
  );
}

// ---- what a server says ----

export const created = (id: string, requestId: unknown = null): Json => ({
  type: 'response.created',
  response: { id, status: 'in_progress', metadata: requestId === null ? null : { request_id: requestId } },
});
export const audioDelta = (response: string, item: string, payload: Buffer): string =>
  `{"type":"response.output_audio.delta","event_id":"event_1","response_id":"${response}","item_id":"${item}","output_index":0,"content_index":0,"delta":"${payload.toString('base64')}"}`;
export const audioDone = (response_id: string, item_id: string): Json => ({
  type: 'response.output_audio.done',
  response_id,
  item_id,
});
export const textDelta = (response_id: string, item_id: string, delta: string): Json => ({
  type: 'response.output_audio_transcript.delta',
  response_id,
  item_id,
  delta,
});
export const textDone = (response_id: string, item_id: string, transcript: string): Json => ({
  type: 'response.output_audio_transcript.done',
  response_id,
  item_id,
  transcript,
});
export const done = (id: string, status = 'completed', more: Json = {}): Json => ({
  type: 'response.done',
  response: { id, status, status_details: null, output: [], usage: null, metadata: null, ...more },
});
export const committed = (item_id: string): Json => ({
  type: 'input_audio_buffer.committed',
  item_id,
  previous_item_id: null,
});
export const transcribed = (item_id: string, transcript: string): Json => ({
  type: 'conversation.item.input_audio_transcription.completed',
  item_id,
  content_index: 0,
  transcript,
});
export const apiError = (
  code: string,
  event_id: unknown = null,
  message = code,
  param: unknown = null,
): Json => ({
  type: 'error',
  error: { type: 'invalid_request_error', code, message, param, event_id },
});
