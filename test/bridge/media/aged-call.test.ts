// A call that has been up for ten minutes does no more for a frame, a tick, a mark, an event of the model than it did when it was
// young. V8 counts how often each stretch of the daemon's code runs: what walked through all that ever was would run more often.
import { Session } from 'node:inspector/promises';
import t from 'tap';
import { FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import type { MediaWire } from '../../../bridge/carriers/media-wire.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';
import { type Json, startPeer } from '../models/openai/model-peer.ts';
import { deadSocket, deafVad, HeldClock, makePlan, TOKEN } from './held-call.ts';

/** A turn of the caller's and the agent's answer, over and over. In every fifth the caller speaks over the answer's end. */
const EXCHANGE_MS = 6_000;
const SPEECH_MS = 1_600;
const BARGE_IN_MS = 4_600;
const ANSWER_MS = 3_000;
const EXCHANGES = { young: 10, aged: 100, counted: 10 };
const WINDOW = 256;
/** How long the carrier takes to play and to say so. */
const PLAYED_MS = 150;

/** Executions of each stretch of code since the last reading. */
type Work = Map<string, number>;

class WorkCounter {
  readonly #session = new Session();

  /** Code that is loaded from then on is counted, block by block. */
  async start(): Promise<void> {
    this.#session.connect();
    await this.#session.post('Profiler.enable');
    await this.#session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  }

  async read(): Promise<Work> {
    const { result } = await this.#session.post('Profiler.takePreciseCoverage');
    const work: Work = new Map();
    for (const { url, functions } of result) {
      const file = /\/((?:audio|bridge)\/.*)$/.exec(url)?.[1];
      if (file === undefined || url.includes('/test/')) continue;
      for (const { functionName, ranges } of functions)
        for (const { startOffset, count } of ranges) {
          const key = `${file} ${functionName} ${startOffset}`;
          work.set(key, Math.max(count, work.get(key) ?? 0));
        }
    }
    return work;
  }

  stop(): void {
    this.#session.disconnect();
  }
}

t.test('ten minutes of a talk', async (t) => {
  const counter = new WorkCounter();
  await counter.start();
  t.teardown(() => counter.stop());
  // Not before: what is compiled already has no counters of its blocks.
  const { MediaCall } = await import('../../../bridge/media/media-call.ts');
  const { FrameAges } = await import('../../../bridge/media/frame-age.ts');
  const { createTwilioWire } = await import('../../../bridge/carriers/twilio/wire.ts');
  const { openOpenAISession } = await import('../../../bridge/models/openai/session.ts');
  const { TURN_RULES } = await import('../../../bridge/turns/turns.ts');

  let nowMs = 1_000;
  const { now } = performance;
  performance.now = () => nowMs;
  t.teardown(() => {
    performance.now = now;
  });
  const peer = await startPeer(t);
  const clock = new HeldClock();
  const told: Record<string, number> = {};
  const ear = { onWindow: (() => {}) as OnWindow, waiting: 0, sample: 0, speaks: false };
  const call = new MediaCall(makePlan(), {
    format: MULAW_8K,
    clock,
    vad: deafVad((onWindow) => {
      ear.onWindow = onWindow;
      return {
        push(mulaw) {
          ear.waiting += mulaw.length;
        },
        close() {},
      };
    }),
    rules: TURN_RULES,
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel: (_name, config, listener) =>
      openOpenAISession({ ...config, url: peer.url, apiKey: 'key', model: 'any' }, listener),
    post(message: FromMedia) {
      told[message.type] = (told[message.type] ?? 0) + 1;
    },
  });
  t.teardown(() => call.release());
  const model = await peer.accept();
  await model.ping();
  let marks: { name: string; atMs: number }[] = [];
  const wire = createTwilioWire();
  const line: MediaWire = {
    ...wire,
    mark(...given: Parameters<MediaWire['mark']>) {
      marks.push({ name: given.at(-1) as string, atMs: nowMs + PLAYED_MS });
      return wire.mark(...given);
    },
    clear(...given: Parameters<MediaWire['clear']>) {
      marks = marks.map((mark) => ({ ...mark, atMs: nowMs }));
      return wire.clear(...given);
    },
  };
  call.attach(deadSocket(), line, {
    type: 'started',
    streamId: 'stream',
    carrierCallId: 'carrier',
    parameters: { token: TOKEN },
    format: MULAW_8K,
  });

  // ---- the model: it answers whatever it is asked, twice as fast as it is spoken ----

  let serial = 0;
  let read = 0;
  let answer: { id: string; item: string; metadata: unknown; fromMs: number; givenMs: number } | null = null;
  const of = ({ id, item }: { id: string; item: string }) => ({
    event_id: `event_${++serial}`,
    response_id: id,
    item_id: item,
    output_index: 0,
    content_index: 0,
  });
  async function modelGoesOn(): Promise<void> {
    await model.ping();
    for (; read < model.received.length; read++) {
      const event = model.received[read] as Json;
      if (event.type === 'input_audio_buffer.commit') {
        const item_id = `said_${++serial}`;
        model.send({ type: 'input_audio_buffer.committed', item_id, previous_item_id: null });
        const transcript = 'I would like to know more about this, please.';
        const type = 'conversation.item.input_audio_transcription.completed';
        model.send({ type, item_id, content_index: 0, transcript, usage: { type: 'duration', seconds: 2 } });
      }
      if (event.type !== 'response.create') continue;
      const { metadata } = event.response as { metadata: unknown };
      answer = { id: `resp_${++serial}`, item: `item_${serial}`, metadata, fromMs: nowMs, givenMs: 0 };
      model.send({ type: 'response.created', response: { id: answer.id, status: 'in_progress', metadata } });
      const item = {
        id: answer.item,
        type: 'message',
        status: 'in_progress',
        role: 'assistant',
        content: [],
      };
      model.send({ type: 'response.output_item.added', response_id: answer.id, output_index: 0, item });
    }
    if (answer === null) return;
    for (; answer.givenMs < Math.min(ANSWER_MS, (nowMs - answer.fromMs) * 2); answer.givenMs += 100) {
      const delta = Buffer.alloc(100 * 8, 1).toString('base64');
      model.send({ type: 'response.output_audio.delta', ...of(answer), delta });
      model.send({ type: 'response.output_audio_transcript.delta', ...of(answer), delta: ' word' });
    }
    if (answer.givenMs < ANSWER_MS) return;
    const transcript = ' word'.repeat(ANSWER_MS / 100);
    model.send({ type: 'response.output_audio.done', ...of(answer) });
    model.send({ type: 'response.output_audio_transcript.done', ...of(answer), transcript });
    const item = { id: answer.item, type: 'message', status: 'completed', role: 'assistant', content: [] };
    model.send({ type: 'response.output_item.done', response_id: answer.id, output_index: 0, item });
    const { id, metadata } = answer;
    model.send({ type: 'response.done', response: { id, status: 'completed', output: [item], metadata } });
    answer = null;
  }

  // ---- the carrier and the thread: a frame each way, the detector, marks, a tick ----

  // As long a number then as now: what reads it digit by digit is not what is looked for.
  let frames = 1_000_000;
  const payload = Buffer.alloc(FRAME_BYTES, 0x20).toString('base64');
  async function exchange(number: number): Promise<void> {
    for (let ms = 0; ms < EXCHANGE_MS; ms += FRAME_MS) {
      nowMs += FRAME_MS;
      const over = number % 5 === 4 && ms >= BARGE_IN_MS;
      ear.speaks = ms < SPEECH_MS || over;
      const timestamp = frames * FRAME_MS;
      frames++;
      const frame = `{"event":"media","sequenceNumber":"${frames}","media":{"track":"inbound","chunk":"${frames}","timestamp":"${timestamp}","payload":"${payload}"},"streamSid":"stream"}`;
      call.media(wire.decode(Buffer.from(frame), false));
      for (; ear.waiting >= WINDOW; ear.waiting -= WINDOW) {
        ear.sample += WINDOW;
        ear.onWindow(ear.speaks ? 0.95 : 0.01, ear.sample, ear.speaks ? -25 : -66);
      }
      for (let mark = marks[0]; mark !== undefined && mark.atMs <= nowMs; mark = marks[0]) {
        marks.shift();
        call.media({ type: 'mark', name: mark.name });
      }
      clock.tick(nowMs);
      if (ms % 100 === 0) await modelGoesOn();
    }
    await model.ping();
  }

  let exchanges = 0;
  /** Goes on to that many exchanges; answers the work of the last of them. */
  async function work(until: number): Promise<Work> {
    for (; exchanges < until - EXCHANGES.counted; exchanges++) await exchange(exchanges);
    await counter.read();
    for (; exchanges < until; exchanges++) await exchange(exchanges);
    return counter.read();
  }

  const young = await work(EXCHANGES.young);
  const aged = await work(EXCHANGES.aged);
  t.equal(nowMs, 1_000 + EXCHANGES.aged * EXCHANGE_MS, 'ten minutes');
  t.ok((told.transcript ?? 0) > 3 * EXCHANGES.aged, 'both sides spoke');
  t.equal(told['barge-in'], EXCHANGES.aged / 5);
  const counted = (file: string) => [...young].filter(([key]) => key.startsWith(file)).length;
  for (const file of [
    'bridge/turns/playout.ts',
    'bridge/media/talk.ts',
    'bridge/media/transcript.ts',
    'bridge/models/openai/outputs.ts',
    'bridge/models/openai/conversation.ts',
    'audio/echo-guard.ts',
  ])
    t.ok(counted(file) > 10, `${file} is counted`);
  // One walk an exchange through a hundred of anything is a thousand steps in ten of them.
  const more = [...aged].filter(([key, count]) => count > 1.1 * (young.get(key) ?? 0) + 100);
  t.same(
    more.map(([key, count]) => `${key}: ${count} times, and ${young.get(key) ?? 0} when it was young`),
    [],
  );
});
