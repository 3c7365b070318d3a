// What was said comes through whatever the carrier's line and the model write sound in, with one conversion at most: whole
// calls between a line of each format and a model of each, on a clock of their own. Where both are the same, the model is given
// the carrier's own buffers.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import wavefile from 'wavefile';
import {
  type AudioFormat,
  bytesPerMs,
  FRAME_MS,
  frameBytes,
  MULAW_8K,
  sameFormat,
  silentByte,
} from '../../../audio/format.ts';
import { VAD_WINDOW_SAMPLES } from '../../../audio/vad/lane.ts';
import type { OnWindow } from '../../../audio/vad/vad.ts';
import type { MediaWire } from '../../../bridge/carriers/media-wire.ts';
import { FrameAges } from '../../../bridge/media/frame-age.ts';
import { MediaCall } from '../../../bridge/media/media-call.ts';
import type { CutItem, ModelListener } from '../../../bridge/models/model.ts';
import type { FromMedia } from '../../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { readFixture } from '../../audio/fixtures.ts';
import { bytesOf, inFormat, likeness, samplesOf } from '../../audio/sounds.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';
import { deadSocket, deafVad, HeldClock, makePlan, muteModel, TOKEN } from './held-call.ts';

const ALAW_8K: AudioFormat = { encoding: 'alaw', rateHz: 8000 };
const PCM_8K: AudioFormat = { encoding: 'pcm16', rateHz: 8000 };
const PCM_16K: AudioFormat = { encoding: 'pcm16', rateHz: 16000 };
const PCM_24K: AudioFormat = { encoding: 'pcm16', rateHz: 24000 };
const FORMATS = [MULAW_8K, ALAW_8K, PCM_8K, PCM_16K, PCM_24K];
const nameOf = ({ encoding, rateHz }: AudioFormat) => `${encoding} ${rateHz / 1000}`;

// ---- what is said ----

const SAID_MS = 3_000;
const SPEECH = readFixture('jfk-8k').slice(0, SAID_MS * 8);
/** In the middle of a word. */
const AGENT_MS = 2_000;
const AGENT = readFixture('jfk-8k').slice(1_000 * 8, (1_000 + AGENT_MS) * 8);

const LOW_HZ = 1_100;
/** Beyond what an 8 kHz line carries; 2 kHz is where it would come out if nothing took it away. */
const HIGH_HZ = 6_000;
const AMPLITUDE = 8_000;

/** A low tone, and a high one where the format carries it. */
function tones(format: AudioFormat, ms: number): Buffer {
  const { rateHz } = format;
  const samples = Int16Array.from({ length: (rateHz / 1000) * ms }, (_, n) => {
    const at = (hz: number) => Math.sin((2 * Math.PI * hz * n) / rateHz);
    return Math.round(AMPLITUDE * (at(LOW_HZ) + (rateHz > 2 * HIGH_HZ ? at(HIGH_HZ) : 0)));
  });
  return inFormat(bytesOf(samples), { encoding: 'pcm16', rateHz }, format);
}

/** How loud one frequency is in the middle of a sound, in dB against a tone as it was made. Whole periods: exact. */
function levelDb(sound: Buffer, format: AudioFormat, hz: number): number {
  const { rateHz } = format;
  const part = samplesOf(sound, format, rateHz).subarray((rateHz * 3) / 10, (rateHz * 5) / 10);
  let re = 0;
  let im = 0;
  for (const [n, sample] of part.entries()) {
    re += sample * Math.cos((2 * Math.PI * hz * n) / rateHz);
    im += sample * Math.sin((2 * Math.PI * hz * n) / rateHz);
  }
  return 20 * Math.log10((2 * Math.hypot(re, im)) / part.length / AMPLITUDE + 1e-9);
}

// ---- a call ----

/** How much of the second item the carrier has confirmed when it is cut. */
const CUT_MS = 940;

/** The carrier's end: takes what the wire is given and plays it, a frame at a time, and sends the marks back as it comes to them. */
function openLine(format: AudioFormat) {
  let waiting: ({ bytes: number } | { mark: string })[] = [];
  const line = {
    sent: [] as Buffer[],
    clears: 0,
    /** Bytes played up to the last mark that came back. */
    confirmed: 0,
    played: 0,
    wire: {
      clearReturnsMarks: true,
      decode: () => ({ type: 'ignored', event: 'none' }),
      audio(_message, _id, payload) {
        line.sent.push(Buffer.from(payload));
        waiting.push({ bytes: payload.length });
      },
      mark(_message, _id, mark) {
        waiting.push({ mark });
      },
      clear() {
        line.clears++;
        waiting = [];
      },
    } satisfies MediaWire,
    /** Plays a frame's time. Answers the marks it came to. */
    play(): string[] {
      const marks: string[] = [];
      let room = frameBytes(format);
      for (let next = waiting[0]; next !== undefined; next = waiting[0]) {
        if ('mark' in next) {
          marks.push(next.mark);
          line.confirmed = line.played;
        } else {
          const bytes = Math.min(room, next.bytes);
          next.bytes -= bytes;
          room -= bytes;
          line.played += bytes;
          if (next.bytes > 0) return marks;
        }
        waiting.shift();
      }
      return marks;
    },
  };
  return line;
}

/**
 * Holds a call: the agent speaks, then the caller, then the agent again until the caller speaks over it.
 * @param said what the caller says in what the stream brings, and what the agent does in the model's format
 * @param o.brings what the stream's start tells; that is what the line takes, unless it is another
 */
async function hold(
  line: AudioFormat,
  model: AudioFormat,
  said: { caller: Buffer; agent: Buffer },
  { brings = line, recordingPath = null }: { brings?: AudioFormat; recordingPath?: string | null } = {},
) {
  const carrier = openLine(line);
  const fromCaller: Buffer[] = [];
  const toModel: Buffer[] = [];
  const posted: FromMedia[] = [];
  const cuts: CutItem[] = [];
  let cutAt = -1;
  const clock = new HeldClock();
  let window: OnWindow = () => {};
  const ear = { samples: 0, told: 0, voice: false };
  let listener: ModelListener | undefined;
  const realNow = performance.now;
  let nowMs = 1_000;
  performance.now = () => nowMs;
  const vad = deafVad((onWindow) => {
    window = onWindow;
    return {
      push(mulaw) {
        ear.samples += mulaw.length;
      },
      close() {},
    };
  });
  const call = new MediaCall(makePlan({ recordingPath }), {
    format: line,
    clock,
    vad,
    rules: TURN_RULES,
    counters: { framesIn: 0, framesOut: 0 },
    frameAges: new FrameAges(),
    openModel(_name, config, given) {
      listener = given;
      if (config.line !== line) throw new Error('a model is told what the line is');
      return muteModel({
        // It hears all, so that what reaches it is what was said and no more.
        capabilities: { ...TURN_BY_TURN, turns: 'model' },
        takes: model,
        gives: model,
        appendAudio: (payload) =>
          void toModel.push(payload === fromCaller.at(-1) ? payload : Buffer.from(payload)),
        interrupt(cut) {
          cuts.push(...cut);
          cutAt = carrier.confirmed;
        },
      });
    },
    post: (message) => void posted.push(structuredClone(message)),
  });
  try {
    if (listener === undefined) throw new Error('the model was not opened');
    const speaks = (itemId: string, text: string) => {
      // In pieces that end anywhere, as a server cuts them.
      const piece = 125 * bytesPerMs(model) + 1;
      for (let at = 0; at < said.agent.length; at += piece)
        listener?.audio(itemId, said.agent.subarray(at, at + piece));
      listener?.textDone(itemId, text);
      listener?.audioDone(itemId);
    };
    const silence = Buffer.alloc(frameBytes(brings), silentByte(brings));
    let chunk = 0;
    const step = (frame: Buffer = silence) => {
      nowMs += FRAME_MS;
      for (const name of carrier.play()) call.media({ type: 'mark', name });
      // A buffer of its own, as each message of a socket is.
      fromCaller.push(frame.subarray());
      call.media({
        type: 'audio',
        payload: fromCaller.at(-1)!,
        timestampMs: chunk * FRAME_MS,
        chunk: ++chunk,
      });
      for (; ear.samples - ear.told >= VAD_WINDOW_SAMPLES; ) {
        ear.told += VAD_WINDOW_SAMPLES;
        window(ear.voice ? 0.99 : 0, ear.told, ear.voice ? -20 : -90);
      }
      clock.tick(nowMs);
    };
    listener.ready({ renewed: false, tookMs: 1 });
    call.attach(deadSocket(), carrier.wire, {
      type: 'started',
      streamId: 's',
      carrierCallId: 'c',
      parameters: { token: TOKEN },
      format: brings,
    });

    speaks('item-1', 'All of it is heard.');
    for (let ms = 0; ms < AGENT_MS + 200; ms += FRAME_MS) step();
    const firstBytes = carrier.played;
    const callerFrom = fromCaller.length;
    for (let at = 0; at < said.caller.length; at += silence.length)
      step(said.caller.subarray(at, at + silence.length));
    speaks('item-2', 'Not all of it is heard.');
    for (let ms = 0; ms < 400; ms += FRAME_MS) step();
    ear.voice = true;
    for (let ms = 0; ms < AGENT_MS && cuts.length === 0; ms += FRAME_MS) step();
    return {
      carrier,
      fromCaller,
      toModel,
      /** Of the caller's words alone, as the model has them. */
      words: Buffer.concat(toModel).subarray(callerFrom * FRAME_MS * bytesPerMs(model)),
      cuts,
      /** By the carrier's own count: what of the second item was played up to the last mark. */
      cutMs: (cutAt - firstBytes) / bytesPerMs(line),
      firstBytes,
      ear,
      lines: posted.flatMap((message) => (message.type === 'transcript' ? message.items : [])),
    };
  } finally {
    await call.release();
    performance.now = realNow;
  }
}

const speechIn = (samples: Int16Array, format: AudioFormat) => inFormat(bytesOf(samples), PCM_8K, format);

for (const line of FORMATS) {
  for (const model of FORMATS) {
    t.test(`a line of ${nameOf(line)} and a model of ${nameOf(model)}`, async (t) => {
      const caller = speechIn(SPEECH, line);
      const agent = speechIn(AGENT, model);
      const call = await hold(line, model, { caller, agent });

      const came = Buffer.concat(call.fromCaller);
      const given = Buffer.concat(call.toModel);
      const ms = came.length / bytesPerMs(line);
      t.equal(given.length, ms * bytesPerMs(model), 'the model is given as much as the line brought');
      t.ok(given.equals(inFormat(came, line, model)), 'converted once, from what came');
      const heard = likeness(SPEECH, samplesOf(call.words, model, 8000).subarray(0, SPEECH.length));
      t.ok(heard > 0.98, `the caller: ${heard.toFixed(4)}`);
      if (sameFormat(line, model))
        t.ok(
          call.toModel.every((payload, i) => payload === call.fromCaller[i]),
          'the very buffers of the carrier, where both are the same',
        );

      const sent = Buffer.concat(call.carrier.sent).subarray(0, call.firstBytes);
      t.equal(call.firstBytes, AGENT_MS * bytesPerMs(line), 'all of the agent is played');
      t.ok(sent.equals(inFormat(agent, model, line)), 'converted once, from what the model gave');
      const spoken = likeness(AGENT, samplesOf(sent, line, 8000));
      t.ok(spoken > 0.98, `the agent: ${spoken.toFixed(4)}`);
      t.ok(
        call.carrier.sent.every(({ length }) => length % frameBytes(line) === 0),
        'whole frames',
      );

      t.match(
        call.lines.findLast(({ text }) => text === 'All of it is heard.'),
        { heardText: 'All of it is heard.', interrupted: false },
        'heard to its end, by the marks',
      );
      t.equal(call.cuts.length, 1, 'the second is cut short');
      t.match(call.cuts[0], { itemId: 'item-2', heardMs: call.cutMs }, 'at what the last mark confirmed');
      t.equal(call.cuts[0]?.heardMs, CUT_MS, 'which is the same in every format');
      t.equal(call.carrier.clears, 1);
      t.ok(Math.abs(call.ear.samples / 8 - ms) <= 1, 'the detector has heard 8 samples per millisecond');
    });

    t.test(
      `${nameOf(line)} to ${nameOf(model)} and back: the band of the narrower one is kept`,
      async (t) => {
        const caller = tones(line, 1_000);
        const agent = tones(model, AGENT_MS);
        const { words, carrier, firstBytes } = await hold(line, model, { caller, agent });
        const wide = line.rateHz > 8000 && model.rateHz > 8000;
        for (const [who, sound, format] of [
          ['the caller', words, model],
          ['the agent', Buffer.concat(carrier.sent).subarray(0, firstBytes), line],
        ] as const) {
          const low = levelDb(sound, format, LOW_HZ);
          t.ok(Math.abs(low) < 0.5, `${who}: the low tone is at ${low.toFixed(2)} dB`);
          const high = levelDb(sound, format, format.rateHz > 8000 ? HIGH_HZ : 8000 - HIGH_HZ);
          if (wide) t.ok(Math.abs(high) < 0.5, `${who}: the high tone is at ${high.toFixed(2)} dB`);
          else t.ok(high < -45, `${who}: no high tone, nor where it would fold: ${high.toFixed(1)} dB`);
          if (format.rateHz > 8000 && !wide) {
            const image = levelDb(sound, format, 8000 - LOW_HZ);
            t.ok(image < -45, `${who}: no image of the low tone: ${image.toFixed(1)} dB`);
          }
        }
      },
    );
  }
}

t.test('a stream brings another sound than its line takes', async (t) => {
  for (const [brings, line, model] of [
    [ALAW_8K, PCM_16K, PCM_24K],
    [PCM_16K, MULAW_8K, PCM_16K],
    [PCM_24K, PCM_8K, MULAW_8K],
  ] as const) {
    const agent = speechIn(AGENT, model);
    const call = await hold(line, model, { caller: speechIn(SPEECH, brings), agent }, { brings });
    const what = `${nameOf(brings)} in, ${nameOf(line)} out, ${nameOf(model)}`;
    const came = Buffer.concat(call.fromCaller);
    t.ok(Buffer.concat(call.toModel).equals(inFormat(came, brings, model)), `${what}: the caller`);
    const sent = Buffer.concat(call.carrier.sent).subarray(0, call.firstBytes);
    t.ok(sent.equals(inFormat(agent, model, line)), 'the agent');
    t.match(call.cuts, [{ itemId: 'item-2', heardMs: CUT_MS }]);
    t.ok(Math.abs(call.ear.samples / 8 - came.length / bytesPerMs(brings)) <= 1, 'and the detector');
  }
});

t.test('the recording has both voices of a line of any format, at 8 kHz', async (t) => {
  for (const line of FORMATS) {
    const path = join(t.testdir({}), `${nameOf(line)}.wav`);
    await hold(
      line,
      PCM_24K,
      { caller: speechIn(SPEECH, line), agent: speechIn(AGENT, PCM_24K) },
      { recordingPath: path },
    );
    const wav = new wavefile.WaveFile(readFileSync(path));
    t.match(wav.fmt, { sampleRate: 8000, numChannels: 2 });
    const [left, right] = wav.getSamples(false, Int16Array) as unknown as [Int16Array, Int16Array];
    const from = (AGENT_MS + 200) * 8;
    const heard = likeness(SPEECH, Int16Array.from(left).subarray(from, from + SPEECH.length + 400), 40);
    t.ok(heard > 0.97, `${nameOf(line)}: the caller ${heard.toFixed(4)}`);
    const spoken = likeness(AGENT, Int16Array.from(right).subarray(0, AGENT.length + 400), 40);
    t.ok(spoken > 0.97, `${nameOf(line)}: the agent ${spoken.toFixed(4)}`);
  }
});
