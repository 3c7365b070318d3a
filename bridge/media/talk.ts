// One call's talk: performs what the floor decides on the model and the agent's voice. Decides nothing about the floor itself;
// knows no socket and no clock of its own. What is told of it is talk-record.ts.
import { DRAWN_OUT_MS, isDrawnOut } from '../../audio/drawn-out.ts';
import type { AudioFormat } from '../../audio/format.ts';
import type { CutItem, ModelListener, ModelSession } from '../models/model.ts';
import type { Fault } from '../protocol/call-reasons.ts';
import type { EndReason, FromMedia, PrepareCall } from '../protocol/messages.ts';
import type { Floor } from '../turns/floor.ts';
import { anyWordStops } from '../turns/tuning.ts';
import type { TurnEffect, TurnEvent } from '../turns/turns.ts';
import type { Voice } from '../turns/voice.ts';
import { AgentSound } from './agent-sound.ts';
import type { AgentVoice } from './agent-voice.ts';
import { CallTools } from './call-tools.ts';
import type { CallerListener } from './caller-audio.ts';
import { CallerFeed } from './caller-feed.ts';
import { CallerWords } from './caller-words.ts';
import { HeldAnswer } from './held-answer.ts';
import { ModelRequests } from './model-requests.ts';
import { SilenceWatch } from './silence-watch.ts';
import type { TalkRecord } from './talk-record.ts';

/** How long the end waits for the caller's last words to be written down. */
const LAST_WORDS_MS = 3_000;
/** Where the model tells the turns and does not: longer than one waits for the rest of a sentence. */
const MODEL_UNTOLD_MS = 6_000;
/** Of typed words more is cut off. */
const TYPED_CHARACTERS = 4_000;

export interface TalkPorts {
  floor: Floor;
  voice: AgentVoice;
  record: TalkRecord;
  /** What the carrier's line takes, and brings where a stream does not say otherwise. */
  format: AudioFormat;
  openModel(config: PrepareCall['model'], listener: ModelListener): ModelSession;
  post(message: FromMedia): void;
  /** Milliseconds since the media stream's start (before it: since the call was prepared). */
  now(): number;
}

export class Talk implements CallerListener {
  readonly #call: PrepareCall;
  readonly #ports: TalkPorts;
  readonly #floor: Floor;
  readonly #voice: AgentVoice;
  readonly #record: TalkRecord;
  readonly #model: ModelSession;
  readonly #sound: AgentSound;
  readonly #feed: CallerFeed;
  readonly #words: CallerWords;
  readonly #requests: ModelRequests;
  readonly #early: HeldAnswer;
  readonly #listener: ModelListener;
  readonly #tools: CallTools;
  readonly #silence = new SilenceWatch();
  /** The model tells the turns: it hears all, and our own ear decides nothing about them. */
  readonly #modelTells: boolean;
  #turnFromMs = 0;
  /** Since when there is no stream where there was one. */
  #pausedMs: number | null = null;
  /** Told fifty times a second and call: always the same one. */
  readonly #tick = {
    type: 'tick' as const,
    tools: false,
    due: true,
    stillMs: 0,
    quietMs: 0,
    heardMs: 0,
    asked: false,
    told: false,
  };
  #modelLost: Fault | null = null;
  #over = false;
  #closing: Promise<void> | null = null;

  /** Opens the model's session at once, so that it is configured while the phone rings. */
  constructor(call: PrepareCall, ports: TalkPorts) {
    this.#call = call;
    this.#ports = ports;
    this.#floor = ports.floor;
    this.#voice = ports.voice;
    this.#record = ports.record;
    this.#tools = new CallTools(call);
    this.#early = new HeldAnswer(ports.now);
    this.#listener = this.#modelListener();
    this.#model = ports.openModel(call.model, this.#early.before(this.#listener));
    this.#feed = new CallerFeed(this.#model, ports.format);
    this.#sound = new AgentSound(this.#model, ports.format);
    this.#requests = new ModelRequests({
      model: this.#model,
      texts: call.texts,
      language: call.model.language,
      record: ports.record,
    });
    this.#words = new CallerWords({
      capabilities: this.#model.capabilities,
      words: call.shortWords,
      anyStops: anyWordStops(call.tuning),
      feed: this.#feed,
      record: ports.record,
      now: ports.now,
      tell: (event) => this.#handle(event),
      agentSpeaks: () => this.#floor.at === 'agent',
    });
    const { turns, callsTools, takesBack } = this.#model.capabilities;
    this.#modelTells = turns === 'model';
    if (this.#modelTells) this.#floor.believeEnds();
    if (!takesBack) this.#floor.waitForEnds();
    if (!callsTools && call.model.tools.length > 0) {
      const tools = call.model.tools.map(({ name }) => name);
      this.#warn('model.calls_no_tools', { tools });
    }
    this.#model.open();
  }

  /** The line has left the talk for what a tool asked, and is not back. */
  get away(): boolean {
    return this.#tools.away;
  }

  /** @param format what the stream brings */
  streamStarted(format: AudioFormat): void {
    const now = this.#ports.now();
    this.#feed.begin(format);
    this.#tools.back();
    // Nobody could be heard, or not, before this.
    this.#silence.agentHeard(now);
    this.#silence.callerVoice(true, now);
    if (this.#pausedMs !== null) this.#record.lineBack(now - this.#pausedMs);
    this.#pausedMs = null;
    this.#handle({ type: 'stream-started' });
  }

  /** The stream is gone, and another may come: for what a tool asked, or it is lost. */
  streamPaused(): void {
    const now = this.#ports.now();
    this.#pausedMs ??= now;
    this.#silence.callerVoice(true, now);
    this.#handle({ type: 'stream-paused' });
  }

  callerAudio(sound: Buffer, atMs: number): void {
    this.#feed.push(sound, atMs);
  }

  voice(voice: Voice): void {
    // Nobody is heard on a line that is gone: who spoke on it is not heard to stop.
    if (this.#pausedMs !== null) return;
    this.#silence.callerVoice(voice.is === 'quiet', this.#ports.now());
    this.#handle({ type: 'voice', voice });
  }

  speechStarted(onsetMs: number): void {
    if (this.#pausedMs === null && this.#weTell()) this.#handle({ type: 'speech-started', onsetMs });
  }

  speechEnded(endMs: number): void {
    if (this.#pausedMs !== null || !this.#weTell()) return;
    const isTurn = this.#floor.at === 'caller';
    const drawnOut = isTurn && isDrawnOut(this.#feed.before(endMs, DRAWN_OUT_MS));
    this.#handle({ type: 'speech-ended', endMs, drawnOut });
  }

  speechTakenBack(onsetMs: number): void {
    if (this.#pausedMs === null && this.#weTell()) this.#handle({ type: 'speech-taken-back', onsetMs });
  }

  waitingForBeep(): boolean {
    return this.#floor.awaitsBeep;
  }

  beep(): void {
    this.#handle({ type: 'beep' });
  }

  /** A mark has come back. */
  markBack(name: string): void {
    const now = this.#ports.now();
    this.#silence.agentHeard(now);
    const confirmedMs = this.#voice.confirmsMs(name);
    const heard = this.#voice.markBack(name, now);
    this.#record.heard(confirmedMs);
    for (const { itemId } of heard) this.#itemHeard(itemId);
    this.#record.hearing(this.#voice.hearing());
  }

  digit(digit: string): void {
    this.#silence.callerTold(this.#ports.now());
    this.#handle({ type: 'digit', digit });
  }

  /** Words typed by the other side. */
  typed(text: string): void {
    const words = text.trim().slice(0, TYPED_CHARACTERS);
    if (words === '') return;
    this.#silence.callerTold(this.#ports.now());
    this.#handle({ type: 'typed', text: words });
  }

  machineDetection(verdict: Extract<TurnEvent, { type: 'machine-detection' }>['verdict']): void {
    this.#handle({ type: 'machine-detection', verdict });
  }

  toolResult(toolCallId: string, output: string): void {
    if (!this.#tools.done(toolCallId)) return;
    this.#model.sendToolResult(toolCallId, output);
    this.#toolsAnswered();
  }

  /** Ends the talk: at once, or after the agent has said a line. */
  finish(reason: EndReason, say: string | null): void {
    this.#handle({ type: 'finish', reason, say });
  }

  /** Once a tick. @param heardMs up to when the caller was listened to */
  tick(nowMs: number, heardMs: number): void {
    this.#tick.heardMs = heardMs;
    this.#timePasses(nowMs);
    if (!this.#modelTells || !this.#floor.streaming) return;
    const { quietSinceMs } = this.#silence;
    if (this.#floor.at !== 'caller' || quietSinceMs === null) return;
    if (nowMs - quietSinceMs > MODEL_UNTOLD_MS) this.#endTurn(quietSinceMs);
  }

  /** Cuts what is still unheard, waits a little for the caller's last words, closes the model. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#over = true;
    this.#throwAway();
    this.#lastTurn();
    this.#cut();
    this.#record.agentLeft();
    this.#record.over();
    if (this.#modelLost === null) await this.#record.words(LAST_WORDS_MS);
    await this.#model.close();
  }

  #handle(event: TurnEvent, now = this.#ports.now()): void {
    // While its end waits for words, nothing begins any more: no answer, no floor.
    if (this.#over) return;
    // Of a tick, which comes fifty times a second, there are none.
    const effects = this.#floor.tell(event, now);
    if (effects.length > 0 && this.#floor.at !== 'disclosing') this.#record.disclosed();
    for (let i = 0; i < effects.length; i++) this.#perform(effects[i]!);
  }

  #timePasses(now = this.#ports.now()): void {
    this.#silence.tick(now);
    this.#tick.tools = this.#tools.busy;
    this.#tick.due = this.#voice.pending() || this.#busy();
    this.#tick.stillMs = this.#silence.stillMs(now);
    this.#tick.quietMs = this.#silence.quietMs(now);
    this.#tick.asked = this.#record.asks;
    this.#tick.told = this.#record.told;
    this.#handle(this.#tick, now);
  }

  /** What is said over the agent's voice is always judged here: its echo is known here, and a hold cannot wait. */
  #weTell(): boolean {
    return !this.#modelTells || this.#floor.at === 'agent' || this.#floor.at === 'disclosing';
  }

  /** A response runs or waits, or a tool does; or it did when what is told now came. */
  #busy(): boolean {
    return this.#model.busy() || this.#early.telling || this.#tools.busy;
  }

  #endTurn(endMs: number): void {
    this.#handle({ type: 'speech-ended', endMs });
    this.#timePasses();
  }

  #perform(effect: TurnEffect): void {
    switch (effect.do) {
      case 'listen':
        this.#turnFromMs = effect.fromMs;
        this.#feed.listen(effect.fromMs);
        return;
      case 'forget':
        this.#feed.forget();
        return;
      case 'commit':
        this.#commit(effect);
        return;
      case 'weigh':
        this.#words.give(effect);
        return;
      case 'answer':
        this.#record.wanted('answer', effect.speechEndMs);
        this.#requests.answer(effect.brokeIn);
        return;
      case 'ask-early':
        this.#askEarly();
        return;
      case 'release':
        this.#release(effect);
        return;
      case 'throw-away':
        this.#throwAway();
        return;
      case 'resume':
        if (this.#voice.pending()) this.#record.resumed(effect);
        return;
      case 'interrupt':
        this.#interrupt(effect);
        return;
      case 'speak':
        this.#requests.speak(effect);
        return;
      case 'say':
        this.#requests.say(effect.text);
        return;
      case 'disclose':
        this.#disclose();
        return;
      case 'digits':
        this.#requests.pressed(effect.digits, effect.respond);
        return;
      case 'typed':
        this.#requests.typed(effect.text, effect.respond);
        return;
      case 'give-up-tools':
        this.#requests.giveUp(this.#tools.giveUp());
        return;
      case 'report': {
        const { stillMs, quietMs } = this.#tick;
        this.#warn('talk.stuck', { at: effect.stuck, still_ms: stillMs, quiet_ms: quietMs });
        return;
      }
      case 'floor':
        this.#record.floor(effect.floor);
        return;
      case 'finish':
        this.#lastTurn();
        if (!this.#leave()) this.#finished(effect.reason as EndReason);
        return;
    }
  }

  #disclose(): void {
    const line = this.#call.disclosure ?? '';
    this.#record.wanted('greeting', null);
    this.#record.disclosing(line);
    this.#requests.disclose(line);
  }

  #commit({ speechEndMs, respond }: Extract<TurnEffect, { do: 'commit' }>): void {
    const turn = this.#feed.endTurn();
    if (turn === null) {
      if (respond) this.#handle({ type: 'nothing-said' });
      return;
    }
    this.#record.callerTurn(turn, this.#turnFromMs, speechEndMs);
    if (!respond) return;
    this.#record.wanted('answer', speechEndMs);
    this.#requests.answer();
  }

  /** Who leaves, or is left, in the middle of his turn has said it all the same. */
  #lastTurn(): void {
    const turn = this.#feed.close();
    if (turn === null) return;
    this.#record.callerTurn(turn, this.#turnFromMs, this.#silence.quietSinceMs ?? this.#ports.now());
  }

  #askEarly(): void {
    const turn = this.#feed.pause();
    if (turn === null) return;
    this.#early.begin(turn);
    this.#requests.answer();
  }

  #release({ speechEndMs }: Extract<TurnEffect, { do: 'release' }>): void {
    const kept = this.#early.release();
    if (kept === null) {
      this.#commit({ do: 'commit', respond: true, speechEndMs });
      return;
    }
    this.#feed.forget();
    this.#record.callerTurn(kept.turn, this.#turnFromMs, speechEndMs);
    this.#record.wanted('answer', speechEndMs, kept);
    for (const usage of kept.usage) this.#record.used(usage);
    this.#early.tell(kept, this.#listener);
  }

  #throwAway(): void {
    const kept = this.#early.throwAway();
    if (kept === null) return;
    const { turn, items, toolCallIds } = kept;
    this.#model.takeBack({ turn, itemIds: [...items], toolCallIds });
    this.#record.thrownAway(kept.usage);
  }

  #interrupt(effect: Extract<TurnEffect, { do: 'interrupt' }>): void {
    const silencedMs = this.#voice.sentIsHeard() ? this.#silence.agentHeardMs : this.#ports.now();
    const cuts = this.#cut();
    this.#record.agentSilenced();
    this.#requests.interrupt(cuts);
    // Without a sound heard it was no barge-in: the caller only took back a turn that had not been over.
    if (cuts.some(({ heardMs }) => heardMs > 0)) this.#record.bargedIn(effect, silencedMs);
  }

  /** Cuts everything unheard. Answers what was heard of each item that was not over. */
  #cut(): CutItem[] {
    return this.#voice.cut(this.#ports.now()).map((cut) => ({
      itemId: cut.itemId,
      heardMs: Math.min(cut.heardMs, cut.receivedMs),
      heardText: this.#record.itemCut(cut),
    }));
  }

  /** The line leaves for what a tool asked; its answer comes when the line is back. */
  #leave(): boolean {
    const leaving = this.#over || this.#floor.at !== 'away' ? null : this.#tools.leave();
    if (leaving === null) return false;
    this.#record.left(leaving);
    return true;
  }

  #finished(reason: EndReason): void {
    if (this.#over) return;
    this.#over = true;
    const { apology } = this.#call.texts;
    this.#record.ended(reason, this.#modelLost, this.#floor.onLine ? apology : null);
  }

  #toolsAnswered(): void {
    if (this.#tools.busy) return;
    this.#handle({ type: 'tools-answered' });
    // The last words may have been heard while a tool still ran.
    if (this.#floor.at === 'closing') this.#timePasses();
  }

  #itemHeard(itemId: string): void {
    this.#record.itemHeard(itemId, this.#voice.receivedMs(itemId));
    if (!this.#voice.pending()) this.#handle({ type: 'all-heard', busy: this.#busy() });
  }

  #warn(event: string, fields: Record<string, unknown>): void {
    const { callId } = this.#call;
    this.#ports.post({ type: 'log', level: 'warn', event, fields: { call_id: callId, ...fields } });
  }

  #callTool(toolCallId: string, name: string, argumentsJson: string): void {
    if (this.#over) return;
    const step = this.#tools.call(toolCallId, name, argumentsJson);
    switch (step.do) {
      case 'run': {
        const { callId } = this.#call;
        const atMs = this.#ports.now();
        this.#ports.post({ type: 'tool-called', callId, toolCallId, name, argumentsJson, atMs });
        return;
      }
      case 'refuse':
        this.#model.sendToolResult(toolCallId, JSON.stringify({ error: step.error }));
        if (step.goesOn) this.#toolsAnswered();
        return;
      case 'opt-out':
        this.#record.note('tool', name);
        this.#model.sendToolResult(toolCallId, JSON.stringify({ ok: true }));
        void this.#record.understood();
        return;
      case 'end':
        if (step.reason === 'agent_ended')
          this.#model.sendToolResult(toolCallId, JSON.stringify({ ok: true }));
        if (step.note !== null) this.#record.note('tool', step.note);
        this.#handle({
          type: 'end-requested',
          reason: step.reason,
          pending: this.#voice.pending() || this.#busy(),
        });
    }
  }

  #modelListener(): ModelListener {
    const { callId } = this.#call;
    return {
      ready: ({ renewed, tookMs }) => {
        this.#ports.post({ type: 'model-ready', callId, tookMs });
        this.#handle({ type: 'model-ready', renewed });
      },
      audio: (itemId, payload) => this.#agentAudio(itemId, payload),
      audioDone: (itemId) => {
        // What came of it after the talk was over was left aside: it is not all there.
        if (!this.#over && this.#voice.finish(itemId)) this.#itemHeard(itemId);
      },
      text: (itemId, delta) => this.#record.agentText(itemId, delta),
      textDone: (itemId, text) => this.#record.agentTextDone(itemId, text),
      callerText: (turn, text) => this.#record.callerText(turn, this.#words.known(turn, text)),
      callerSpeech: (what, agoMs) => {
        if (this.#weTell()) return;
        const atMs = Math.max(0, this.#ports.now() - agoMs);
        if (what === 'started') this.#handle({ type: 'speech-started', onsetMs: atMs });
        else this.#endTurn(atMs);
      },
      toolCall: ({ toolCallId, name, argumentsJson }) => this.#callTool(toolCallId, name, argumentsJson),
      requested: () => this.#record.requested(),
      responseDone: ({ hadAudio, toolCalls }) => {
        const pending = this.#voice.pending();
        const spoke = hadAudio || toolCalls > 0;
        this.#handle({ type: 'response-done', pending, busy: this.#busy(), spoke });
      },
      usage: (usage, of) => (of === 'taken-back' ? this.#record.wasted(usage) : this.#record.used(usage)),
      reconnecting: (why) => this.#warn('model.reconnecting', { why }),
      failed: (failure) => {
        this.#modelLost = failure;
        this.finish('model_failed', null);
      },
    };
  }

  /** The one way of the model's sound to the agent's voice. The first sound of an answer does not wait for the tick. */
  #agentAudio(itemId: string, payload: Buffer): void {
    if (this.#over) return;
    this.#silence.agentReceived(this.#ports.now());
    if (!this.#voice.push(itemId, this.#sound.forLine(itemId, payload))) return;
    this.#record.received();
    this.#handle({ type: 'agent-audio' });
    this.#voice.pace(this.#ports.now());
  }
}
