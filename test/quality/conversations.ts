// Drives the product's own call (MediaCall: gap filler, VAD, echo guard, turn rules, playout, pacing) on a clock of its own,
// many calls at once, each between a simulated phone line and a model that answers at once, or takes its time. No socket, no
// thread, no wait.

import { MULAW_8K } from '../../audio/format.ts';
import { decodeMulaw, encodeMulaw } from '../../audio/g711.ts';
import { openVadBatch } from '../../audio/vad/batch.ts';
import type { VadModelName } from '../../audio/vad/models.ts';
import { FrameAges } from '../../bridge/media/frame-age.ts';
import { MediaCall } from '../../bridge/media/media-call.ts';
import type { FromMedia, PrepareCall } from '../../bridge/protocol/messages.ts';
import { TURN_RULES } from '../../bridge/turns/turns.ts';
import { talkTexts } from '../../control/agents/texts/moments.ts';
import { shortWords } from '../../control/agents/texts/short-words.ts';
import { deadSocket, HeldClock, makePlan, TOKEN } from '../bridge/media/held-call.ts';
import { FollowedVoice, type Played } from './followed-voice.ts';
import { createPhoneLine, type Echo, NETWORK_MS } from './line.ts';
import { createPacedModel, type PacedModel, type Tempo } from './paced-model.ts';
import { type Sound, toPcm } from './sounds.ts';
import { misheard, type Words, wordsIn } from './transcription.ts';

/** A call to be held. Times in ms of the stream at the carrier. */
export interface Talk {
  name: string;
  lengthMs: number;
  /** What the caller's end sends, but for the echo. */
  caller: Int16Array;
  echo: Echo | null;
  /** The agent's first words; null: the caller speaks first. */
  greeting: Sound | null;
  /** Every answer after it. */
  answer: Sound;
  standstills?: readonly Standstill[];
  /** The model takes its time; without, it answers at once. */
  tempo?: Tempo;
  /** What the caller says, for the model's transcription; without, some words. */
  words?: readonly Words[];
  /** The language of the call, ISO-639-1. */
  language?: string;
  /** What the greeting and the answers say. */
  texts?: { greeting?: string; answer?: string };
  /** A call of ours, and what is done where a machine answers. */
  outbound?: { machine: PrepareCall['machine'] };
}

/** The call's thread does nothing meanwhile, or what the line sends waits on its way: all of it comes at the end. */
export interface Standstill {
  of: 'thread' | 'line';
  fromMs: number;
  toMs: number;
}

/** What became of it, in ms of the stream at the carrier. */
export interface Outcome {
  /** When a frame of the agent began to play that could be heard. */
  audible: readonly number[];
  /** When it was decided that the agent has to speak, the greeting first if there was one. */
  asked: readonly number[];
  /** Answers begun before a turn was over, and those of them that nobody heard. */
  early: { begun: number; thrownAway: number };
  /** Of sound, both ways, that responses used: all, and those of answers thrown away. */
  tokens: { all: number; thrownAway: number };
  turns: PacedModel['turns'];
  bargeIns: readonly number[];
  /** When the agent's voice, held back for nothing, was let go on. */
  takenBack: readonly number[];
  /** Of these, when it had paused. */
  pausedForNothing: readonly number[];
  /** The agent's voice, frame by frame. */
  played: Played;
}

const FRAME_MS = 20;
/** The daemon's clock and the carrier's are not in step. */
const TICK_AT_MS = 8;
/** Before the stream: the model is configured while the phone rings. */
const RINGING_MS = 1_000;

const mulaw = (sound: Sound): Uint8Array => {
  const pcm = toPcm(sound);
  const payload = new Uint8Array(pcm.length);
  encodeMulaw(pcm, payload);
  return payload;
};

const heardAs = (payload: Uint8Array): Int16Array => {
  const pcm = new Int16Array(payload.length);
  decodeMulaw(payload, pcm);
  return pcm;
};

function planOf(talk: Talk, callId: string): PrepareCall {
  const direction = talk.outbound === undefined ? 'inbound' : 'outbound';
  return makePlan({
    callId,
    direction,
    machine: talk.outbound?.machine ?? 'none',
    model: { language: talk.language ?? null },
    shortWords: shortWords(talk.language ?? null, []),
    texts: {
      ...talkTexts(direction, null),
      greeting: talk.greeting === null ? null : 'Greet.',
      idle: ['', '', ''],
      voicemail: '',
    },
  });
}

const standsStill = ({ standstills = [] }: Talk, of: Standstill['of'], atMs: number) =>
  standstills.some((one) => one.of === of && atMs >= one.fromMs && atMs < one.toMs);

/** Holds every talk to its end, all at once. @param onProgress told the share that is done */
export async function holdTalks(
  talks: readonly Talk[],
  o: { model?: VadModelName; onProgress?: (share: number) => void } = {},
): Promise<Outcome[]> {
  const vad = await openVadBatch(o.model === undefined ? {} : { model: o.model });
  // The calls read the time where they always do; here it stands still between two steps.
  const realNow = performance.now;
  let nowMs = RINGING_MS;
  performance.now = () => nowMs;
  try {
    return await hold();
  } finally {
    performance.now = realNow;
    await vad.close();
  }

  async function hold(): Promise<Outcome[]> {
    const startMs = nowMs + RINGING_MS;
    const streamMs = () => nowMs - startMs;
    const running = talks.map((talk, i) => {
      const clock = new HeldClock();
      const models: PacedModel[] = [];
      const asked: number[] = [];
      const early = { begun: 0, thrownAway: 0 };
      const tokens = { all: 0, thrownAway: 0 };
      const bargeIns: number[] = [];
      const takenBack: number[] = [];
      const pausedForNothing: number[] = [];
      let heardBytes = 0;
      const voice = new FollowedVoice();
      const line = createPhoneLine(talk.caller, talk.echo, {
        now: streamMs,
        onPlayed: (frame) => voice.plays(frame),
      });
      const said = (sound: Sound, text = 'words') => {
        const payload = mulaw(sound);
        return { sound: payload, text, heard: heardAs(payload) };
      };
      const answer = said(talk.answer, talk.texts?.answer);
      const greeting = talk.greeting === null ? answer : said(talk.greeting, talk.texts?.greeting);
      const call = new MediaCall(planOf(talk, `call-${i}`), {
        format: MULAW_8K,
        clock,
        vad,
        rules: TURN_RULES,
        counters: { framesIn: 0, framesOut: 0 },
        frameAges: new FrameAges(),
        openModel(_name, _config, listener) {
          const model = createPacedModel(listener, {
            now: streamMs,
            heardBytes: () => heardBytes,
            answer(n) {
              // A greeting of which nothing was heard is asked for again.
              const one = n === 0 || line.audible.length === 0 ? greeting : answer;
              voice.sends(one.heard);
              return one;
            },
            tempo: talk.tempo ?? null,
            wordsIn: (fromMs, toMs) =>
              talk.words === undefined ? 'words' : wordsIn(talk.words, fromMs, toMs),
            misheard: (words, random) => misheard(words, talk.language, random),
            transcribes: talk.words !== undefined,
          });
          models.push(model);
          return model;
        },
        post(message: FromMedia) {
          // On the call's own clock, which begins when the stream reaches it.
          // What was thrown away last of all has a row, and was wanted by nobody.
          if (
            message.type === 'turn' &&
            (message.times.requestedMs !== null || message.times.thrownAway === 0)
          )
            asked.push(message.times.decidedMs + NETWORK_MS);
          if (message.type === 'usage') {
            const { usage } = message;
            tokens.all += (usage.input_audio_tokens ?? 0) + (usage.output_audio_tokens ?? 0);
            tokens.thrownAway +=
              (usage.thrown_away_input_tokens ?? 0) + (usage.thrown_away_output_tokens ?? 0);
          }
          if (message.type === 'released') {
            early.begun = message.stats.earlyAnswers;
            early.thrownAway = message.stats.thrownAwayAnswers;
          }
          if (message.type === 'barge-in') bargeIns.push(streamMs());
          if (message.type === 'hold-taken-back') {
            takenBack.push(streamMs());
            if (message.pausedMs !== null) pausedForNothing.push(streamMs());
          }
          if (message.type === 'finished' && talk.outbound === undefined)
            throw new Error(`${talk.name}: the call ended (${message.reason})`);
        },
      });
      const model = models[0]!;
      return {
        talk,
        line,
        call,
        model,
        clock,
        /** Messages of the line that have come by now. */
        deliver() {
          for (let next = line.receive(streamMs()); next !== null; next = line.receive(streamMs())) {
            if (next.type === 'audio') heardBytes += next.payload.length;
            call.media(next);
            model.flush();
          }
        },
        outcome: (): Outcome => ({
          audible: line.audible,
          asked,
          early,
          tokens,
          turns: model.turns,
          bargeIns,
          takenBack,
          pausedForNothing,
          played: voice.played,
        }),
      };
    });
    for (const one of running) one.model.flush();

    const live = new Set(running);
    const attached = new Set<(typeof running)[number]>();
    const longestMs = Math.max(...talks.map(({ lengthMs }) => lengthMs));
    for (let frame = 0; frame * FRAME_MS <= longestMs; frame++) {
      nowMs = startMs + frame * FRAME_MS;
      for (const { line } of live) line.step(frame * FRAME_MS);

      nowMs += TICK_AT_MS;
      const heard = vad.run();
      for (const { clock, talk } of live) {
        if (standsStill(talk, 'thread', frame * FRAME_MS)) continue;
        clock.tick(nowMs);
      }
      await heard;
      for (const { model } of live) model.flush();

      nowMs = startMs + frame * FRAME_MS + NETWORK_MS;
      for (const one of live) {
        if (!attached.has(one)) {
          attached.add(one);
          one.call.attach(deadSocket(), one.line.wire, {
            type: 'started',
            streamId: 'stream',
            carrierCallId: 'carrier',
            parameters: { token: TOKEN },
            format: MULAW_8K,
          });
          one.model.flush();
        }
        const waits = (['thread', 'line'] as const).some((of) => standsStill(one.talk, of, frame * FRAME_MS));
        if (!waits) one.deliver();
        if (frame * FRAME_MS < one.talk.lengthMs) continue;
        live.delete(one);
        await one.call.release();
      }
      if (frame % 50 === 0) o.onProgress?.((frame * FRAME_MS) / longestMs);
    }
    return running.map(({ outcome }) => outcome());
  }
}
