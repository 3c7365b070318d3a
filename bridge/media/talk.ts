// One call's talk: performs what turn-state decides on the model, the playout and the carrier, and tells the control
// thread what happened. Decides nothing about the floor itself; knows no socket and no clock of its own.

import type { ModelConfig, ModelListener, ModelSession } from '../models/model.ts';
import { fillIn } from '../protocol/agent-texts.ts';
import type { Fault } from '../protocol/call-reasons.ts';
import type { EndReason, FromMedia, PrepareCall, TranscriptUpdate } from '../protocol/messages.ts';
import { TOLD_BY_MODEL } from '../turns/end-of-turn.ts';
import { Playout } from '../turns/playout.ts';
import { step } from '../turns/turn-state.ts';
import {
  holdOf,
  listens,
  openTurns,
  TURN_RULES,
  type TurnEffect,
  type TurnEvent,
  type TurnRules,
} from '../turns/turns.ts';
import type { Voice } from '../turns/voice.ts';
import { createAnswerTimes } from './answer-times.ts';
import { createCallTools } from './call-tools.ts';
import { createTranscript } from './transcript.ts';

/** Speech before the detected onset that the model is given as well, so that no first sound is clipped. */
export const PREROLL_MS = 480;
/** How long the end waits for the caller's last words to be written down. */
const LAST_WORDS_MS = 3_000;
/** Where the model's server tells the turns and does not: longer than a server waits for the rest of a sentence. */
const MODEL_UNTOLD_MS = 6_000;
/** Of typed words more is cut off. */
const TYPED_CHARACTERS = 4_000;

export interface TalkPorts {
  openModel(config: ModelConfig, listener: ModelListener): ModelSession;
  post(message: FromMedia): void;
  /** Milliseconds since the media stream's start (before it: since the call was prepared). */
  now(): number;
  /** There is something to play where there was nothing. */
  audioReady(): void;
  /** Empties the carrier's buffer. */
  clearCarrier(): void;
  /** The caller's mu-law from a moment on, as far back as it is kept. */
  preroll(fromMs: number): Uint8Array;
  newId(): string;
}

export interface Talk {
  readonly playout: Playout;
  streamStarted(): void;
  streamPaused(): void;
  /** Contiguous mu-law of the caller. */
  callerAudio(payload: Uint8Array): void;
  /** The caller's voice has changed; told before `speechStarted` and `speechEnded`. */
  voice(voice: Voice): void;
  speechStarted(onsetMs: number): void;
  speechEnded(endMs: number): void;
  /** What had started then was the line's noise. */
  speechTakenBack(onsetMs: number): void;
  /** The carrier shall be given no more of the agent's voice for now. */
  held(): boolean;
  markPlayed(name: string): void;
  digit(digit: string): void;
  /** Words typed by the other side. */
  typed(text: string): void;
  beep(): void;
  machineDetection(verdict: 'human' | 'machine' | 'machine_ready' | 'fax' | 'unknown'): void;
  toolResult(toolCallId: string, output: string): void;
  finish(reason: EndReason, say: string | null): void;
  /** @param heardMs up to when the caller was listened to; not given: to all that is to come */
  tick(heardMs?: number): void;
  /** Whether a machine's greeting is being listened to. */
  waitingForBeep(): boolean;
  bargeIns(): number;
  /** Holds that were taken back after the agent could be heard to stop, or might have been. */
  falseBargeIns(): number;
  /** Cuts what is still unheard, waits a little for the caller's last words, closes the model. */
  close(): Promise<void>;
}

/** Opens the model's session at once, so that it is configured while the phone rings. */
export function openTalk(call: PrepareCall, ports: TalkPorts, given: TurnRules = TURN_RULES): Talk {
  const { callId, texts } = call;
  const playout = new Playout(itemSent);
  const transcript = createTranscript(ports.newId);
  const times = createAnswerTimes({
    now: () => ports.now(),
    tell: (told) => ports.post({ type: 'turn', callId, times: told }),
  });
  let turns = openTurns({ greets: texts.greeting !== null, plan: call.machine });
  let turnFromMs = 0;
  /** What the response asked for last was to be about, beside the session's instructions. */
  let asked: string | null = null;
  /** Since when our own ear has heard no voice; null while it does. */
  let quietSinceMs: number | null = 0;
  let bargeIns = 0;
  let falseBargeIns = 0;
  /** When the last mark came back: until then at least the agent was heard. */
  let lastHeardMs = 0;
  /** When the model's last sound came, and when the caller's voice was last there, or a key, or a word typed. */
  let lastReceivedMs = 0;
  let lastCallerMs = 0;
  /** Told fifty times a second and call: always the same one. */
  const tick = { type: 'tick' as const, tools: false, due: true, stillMs: 0, quietMs: 0, heardMs: 0 };
  let sessionLost: Fault | null = null;
  let over = false;
  let closing: Promise<void> | null = null;
  let wordsArrived: (() => void) | null = null;

  const say = (items: TranscriptUpdate | null) => {
    if (items !== null) ports.post({ type: 'transcript', callId, items: [items] });
  };
  /** What is said over the agent's voice is always judged here: its echo is known here, and a hold cannot wait. */
  const weTell = () => !modelTells || turns.phase.at === 'agent';

  function endTurn(endMs: number): void {
    handle({ type: 'speech-ended', endMs });
    timePasses();
  }

  function timePasses(): void {
    const now = ports.now();
    if (quietSinceMs === null) lastCallerMs = now;
    tick.tools = tools.running() > 0;
    tick.due = playout.pending() || busy();
    tick.stillMs = now - Math.max(lastHeardMs, lastReceivedMs);
    tick.quietMs = now - Math.max(lastHeardMs, lastCallerMs);
    handle(tick);
  }

  const busy = () => model.busy() || tools.running() > 0;

  /** Cuts everything unheard. Answers whether the other side had heard the beginning of it. */
  function cutAll(tellModel: boolean): boolean {
    const now = ports.now();
    if (playout.pending()) ports.clearCarrier();
    const cuts = playout.clear().map((cut) => {
      const update = transcript.agentCut(cut.itemId, cut, now);
      say(update);
      return {
        itemId: cut.itemId,
        heardMs: Math.min(cut.heardMs, cut.receivedMs),
        heardText: update?.heardText ?? '',
      };
    });
    if (tellModel && (cuts.length > 0 || model.busy())) {
      model.interrupt(cuts);
      if (!can.truncates && cuts.length > 0) {
        const heard = cuts.flatMap(({ heardText }) => heardText || []).join(' ');
        model.addText('system', heard === '' ? texts.cutUnheard : fillIn(texts.cutShort, { heard }));
      }
    }
    return cuts.some((cut) => cut.heardMs > 0);
  }

  function perform(effect: TurnEffect): void {
    switch (effect.do) {
      case 'listen': {
        turnFromMs = effect.fromMs;
        if (modelTells) return;
        const early = ports.preroll(effect.fromMs - PREROLL_MS);
        if (early.length > 0) model.appendAudio(asBuffer(early));
        return;
      }
      case 'forget':
        if (can.commits) model.clearAudio();
        return;
      case 'commit': {
        const turn = model.endTurn();
        if (turn === null) {
          if (effect.respond) handle({ type: 'nothing-said' });
          return;
        }
        say(transcript.callerTurn(turn, Math.round(turnFromMs), Math.round(effect.speechEndMs)));
        if (!effect.respond) return;
        times.open('answer', effect.speechEndMs);
        expectAnswer();
        return;
      }
      case 'resume':
        resumed(effect);
        return;
      case 'interrupt': {
        const silencedMs = playout.sentIsHeard() ? lastHeardMs : ports.now();
        // Without a sound heard it was no barge-in: the caller only took back a turn that had not been over.
        if (!cutAll(true)) return;
        bargeIns++;
        // The turn first: an interruption is of the last one told.
        times.close(true);
        ports.post({
          type: 'barge-in',
          callId,
          atMs: ports.now(),
          onsetMs: effect.onsetMs ?? null,
          heldMs: effect.heldMs ?? null,
          silencedMs,
        });
        return;
      }
      case 'speak':
        speak(effect);
        return;
      case 'say':
        if (can.saysLines) model.say(effect.text);
        else model.respond({ instructions: fillIn(texts.sayExactly, { line: effect.text }) });
        return;
      case 'digits':
        say(transcript.note('system', fillIn(texts.keysNote, { keys: effect.digits }), ports.now()));
        if (effect.respond) times.open('answer', null);
        model.addText('user', fillIn(texts.keysPressed, { keys: effect.digits }));
        if (effect.respond) ask(null);
        return;
      case 'give-up-tools':
        for (const toolCallId of tools.giveUp())
          model.sendToolResult(toolCallId, JSON.stringify({ error: texts.refused.timedOut }));
        return;
      case 'report':
        ports.post({
          type: 'log',
          level: 'warn',
          event: 'talk.stuck',
          fields: { call_id: callId, at: effect.stuck, still_ms: tick.stillMs, quiet_ms: tick.quietMs },
        });
        return;
      case 'typed':
        say(transcript.note('caller', effect.text, ports.now()));
        model.addText('user', effect.text);
        if (!effect.respond) return;
        times.open('answer', null);
        ask(null);
        return;
      case 'floor':
        ports.post({ type: 'floor', callId, floor: effect.floor, atMs: ports.now() });
        return;
      case 'finish':
        if (!left()) finished(effect.reason as EndReason);
        return;
    }
  }

  function speak(effect: Extract<TurnEffect, { do: 'speak' }>): void {
    switch (effect.what) {
      case 'greeting':
        times.open('greeting', null);
        ask(texts.greeting ?? '');
        return;
      case 'idle':
        times.open('prompt', null);
        ask(texts.idle[(effect.silences ?? 1) - 1] ?? '');
        return;
      case 'voicemail':
        times.open('prompt', null);
        ask(texts.voicemail);
        return;
      case 'retry':
        if (model.busy()) model.interrupt([]);
        times.openIfNone('answer');
        ask(asked);
        return;
      case 'moment':
        if (model.busy()) model.interrupt([]);
        model.respond({ instructions: texts.moment });
        return;
      case 'filler':
        model.respond({ instructions: texts.moment });
        return;
      case 'continue':
        times.openIfNone('answer');
        expectAnswer();
        return;
    }
  }

  /** Asks for a response; what for is remembered, in case it has to be asked for again. */
  function ask(instructions: string | null): void {
    asked = instructions;
    model.respond(instructions === null ? undefined : { instructions });
  }

  /** An answer to what was said, or to what a tool brought, is due. */
  function expectAnswer(): void {
    if (can.answersByItself) {
      asked = null;
      times.requested();
    } else ask(null);
  }

  /** Sound that held the voice back, and came to nothing. */
  function resumed({ onsetMs, heldMs }: Extract<TurnEffect, { do: 'resume' }>): void {
    if (!playout.pending()) return;
    falseBargeIns++;
    ports.post({ type: 'hold-taken-back', callId, onsetMs, heldMs, resumedMs: ports.now() });
  }

  /** The line leaves for what a tool asked; its answer comes when the line is back. */
  function left(): boolean {
    if (over || turns.phase.at !== 'away' || !tools.leave()) return false;
    times.close(false);
    return true;
  }

  function finished(reason: EndReason): void {
    if (over) return;
    over = true;
    times.close(false);
    const fault = faultOf(reason);
    ports.post({
      type: 'finished',
      callId,
      reason,
      errorCode: fault?.code ?? null,
      errorMessage: fault?.message ?? null,
      speak: fault !== null && turns.streaming ? texts.apology : null,
    });
  }

  /** What failed, where the talk did not end in order. */
  function faultOf(reason: EndReason): Fault | null {
    switch (reason) {
      case 'model_failed':
        return sessionLost ?? { code: 'model_error', message: 'The speech model was lost.' };
      case 'model_silent':
        return { code: reason, message: 'The speech model did not answer in time.' };
      case 'stalled':
        return { code: 'call_stalled', message: 'Neither side was heard for longer than anything may take.' };
      default:
        return null;
    }
  }

  function handle(event: TurnEvent): void {
    const result = step(turns, event, ports.now(), rules);
    if (result === null) return;
    turns = result.state;
    for (const effect of result.effects) perform(effect);
  }

  function itemSent(itemId: string): void {
    const now = ports.now();
    transcript.agentStarted(itemId, Math.round(now));
    times.sent();
  }

  function toolsAnswered(): void {
    if (tools.running() > 0) return;
    handle({ type: 'tools-answered' });
    // The last words may have been heard while a tool still ran.
    if (turns.phase.at === 'closing') timePasses();
  }

  const listener: ModelListener = {
    ready(info) {
      ports.post({ type: 'model-ready', callId, tookMs: info.tookMs });
      handle({ type: 'model-ready', renewed: info.renewed });
    },
    audio(itemId, payload) {
      if (over) return;
      lastReceivedMs = ports.now();
      const first = !playout.knows(itemId);
      playout.push(itemId, payload);
      if (!first) return;
      times.received();
      handle({ type: 'agent-audio' });
      ports.audioReady();
    },
    audioDone(itemId) {
      if (playout.finish(itemId)) itemHeard(itemId);
    },
    text(itemId, delta) {
      transcript.agentText(itemId, delta, ports.now());
    },
    textDone(itemId, text) {
      say(transcript.agentTextDone(itemId, text, ports.now()));
    },
    callerText(turn, text) {
      say(transcript.callerText(turn, text));
      if (transcript.outstanding() === 0) wordsArrived?.();
    },
    callerSpeech(what, agoMs) {
      if (weTell()) return;
      const atMs = Math.max(0, ports.now() - agoMs);
      if (what === 'started') handle({ type: 'speech-started', onsetMs: atMs });
      else endTurn(atMs);
    },
    toolCall: (tool) => tools.run(tool.toolCallId, tool.name, tool.argumentsJson),
    requested() {
      times.requested();
    },
    responseDone(end) {
      handle({
        type: 'response-done',
        pending: playout.pending(),
        busy: busy(),
        spoke: end.hadAudio || end.toolCalls > 0,
      });
    },
    usage: (usage) => ports.post({ type: 'usage', callId, usage }),
    reconnecting: (why) =>
      ports.post({
        type: 'log',
        level: 'warn',
        event: 'model.reconnecting',
        fields: { call_id: callId, why },
      }),
    failed(failure) {
      sessionLost = failure;
      handle({ type: 'finish', reason: 'model_failed', say: null });
    },
  };

  function itemHeard(itemId: string): void {
    const update = transcript.agentHeard(itemId, playout.receivedMs(itemId), ports.now());
    say(update);
    if (!playout.pending()) handle({ type: 'all-heard', busy: busy() });
  }

  const tools = createCallTools(call, {
    post: (message) => ports.post(message),
    now: () => ports.now(),
    answer: (toolCallId, output) => model.sendToolResult(toolCallId, JSON.stringify(output)),
    note: (text) => say(transcript.note('tool', text, ports.now())),
    endRequested: (reason) => handle({ type: 'end-requested', reason, pending: playout.pending() || busy() }),
    answered: toolsAnswered,
  });
  const model = ports.openModel(call.model, listener);
  const can = model.capabilities;
  /** The model tells the turns: it hears all, and our own ear decides nothing about them. */
  const modelTells = can.turns === 'model';
  const rules = modelTells ? { ...given, ...TOLD_BY_MODEL } : given;
  if (!can.callsTools && call.model.tools.length > 0) {
    const fields = { call_id: callId, tools: call.model.tools.map(({ name }) => name) };
    ports.post({ type: 'log', level: 'warn', event: 'model.calls_no_tools', fields });
  }
  model.open();

  return {
    playout,
    streamStarted() {
      lastHeardMs = ports.now();
      handle({ type: 'stream-started' });
    },
    streamPaused() {
      quietSinceMs = ports.now();
      handle({ type: 'stream-paused' });
    },
    callerAudio(payload) {
      if (modelTells || listens(turns)) model.appendAudio(asBuffer(payload));
    },
    voice(voice) {
      quietSinceMs = voice.is === 'quiet' ? ports.now() : null;
      handle({ type: 'voice', voice });
    },
    speechStarted(onsetMs) {
      if (weTell()) handle({ type: 'speech-started', onsetMs });
    },
    speechEnded(endMs) {
      if (weTell()) handle({ type: 'speech-ended', endMs });
    },
    speechTakenBack(onsetMs) {
      if (weTell()) handle({ type: 'speech-taken-back', onsetMs });
    },
    held: () => holdOf(turns) !== null,
    markPlayed(name) {
      lastHeardMs = ports.now();
      const done = playout.markPlayed(name);
      times.heard(name);
      for (const item of done) itemHeard(item.itemId);
    },
    digit(digit) {
      lastCallerMs = ports.now();
      handle({ type: 'digit', digit });
    },
    typed(text) {
      const words = text.trim().slice(0, TYPED_CHARACTERS);
      if (words === '') return;
      lastCallerMs = ports.now();
      handle({ type: 'typed', text: words });
    },
    beep: () => handle({ type: 'beep' }),
    machineDetection: (verdict) => handle({ type: 'machine-detection', verdict }),
    toolResult(toolCallId, output) {
      if (!tools.done(toolCallId)) return;
      model.sendToolResult(toolCallId, output);
      toolsAnswered();
    },
    finish: (reason, text) => handle({ type: 'finish', reason, say: text }),
    tick(upToMs = ports.now()) {
      tick.heardMs = upToMs;
      timePasses();
      if (modelTells && turns.phase.at === 'caller' && quietSinceMs !== null) {
        if (ports.now() - quietSinceMs > MODEL_UNTOLD_MS) endTurn(quietSinceMs);
      }
    },
    waitingForBeep: () => turns.phase.at === 'waiting-for-beep',
    bargeIns: () => bargeIns,
    falseBargeIns: () => falseBargeIns,
    close() {
      closing ??= (async () => {
        over = true;
        cutAll(false);
        times.close(false);
        if (transcript.outstanding() > 0 && sessionLost === null) {
          await new Promise<void>((resolve) => {
            const timer = setTimeout(resolve, LAST_WORDS_MS);
            wordsArrived = () => {
              clearTimeout(timer);
              resolve();
            };
          });
        }
        await model.close();
      })();
      return closing;
    },
  };
}

const asBuffer = (bytes: Uint8Array) =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
