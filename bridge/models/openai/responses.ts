// The agent's side of a session: when a response is asked for (by the gate's rules), and what it gives on its way to the talk.
import type { Log } from '../../../log.ts';
import type { FaultCode } from '../../protocol/call-reasons.ts';
import { heardText } from '../../turns/heard-text.ts';
import type { ModelListener, ResponseEnd } from '../model.ts';
import {
  createGate,
  type Gate,
  type GateEffect,
  type GateEvent,
  gateBusy,
  gateDeadline,
  stepGate,
} from '../response-gate.ts';
import { cancelResponse, createResponse } from './client-events.ts';
import type { Conversation } from './conversation.ts';
import type { Cuts } from './cuts.ts';
import type { Deletions } from './deletions.ts';
import { isFatal, isPassing, retryAfterMs } from './errors.ts';
import type { Link } from './link.ts';
import type { Output, Outputs } from './outputs.ts';
import type { ModelEvent } from './server-events.ts';
import type { Timers } from './socket.ts';
import type { ToolCalls } from './tools.ts';

type ServerEvent<T extends ModelEvent['type']> = Extract<ModelEvent, { type: T }>;

export interface ResponsesOptions {
  /** The session's: those of one response replace them, so both are sent. */
  instructions: string;
  /** Told with the first response of a session that replaced a lost one. */
  resumed: string;
  link: Link;
  outputs: Outputs;
  conversation: Conversation;
  cuts: Cuts;
  deletions: Deletions;
  tools: ToolCalls;
  listener: ModelListener;
  timers: Timers;
  now: () => number;
  log: Log | undefined;
  /** Something that a move to another session waits for may be over. */
  settled: () => void;
  /** The session in force is of no use. */
  drop: (why: string) => void;
  fail: (code: FaultCode, message: string) => void;
}

export class Responses {
  readonly #o: ResponsesOptions;
  #gate: Gate = createGate();
  /** When the running response was last heard of. */
  #progressAt = 0;
  /** Sessions given up in a row because no response came. */
  #stalls = 0;
  /** The response taken back last, by its id or, before it had one, by what it was asked for with. */
  #takenBack: string | null = null;
  #deadlineAt: number | null = null;
  #cancelDeadline = () => {};

  constructor(o: ResponsesOptions) {
    this.#o = o;
  }

  ask(instructions: string | null): void {
    this.#step({ type: 'ask', instructions });
  }

  interrupt(): void {
    this.#step({ type: 'interrupt' });
  }

  /** Drops what runs and waits, as one of which nothing was heard. */
  takeBack(): void {
    const { phase } = this.#gate;
    if (phase.at === 'active') this.#takenBack = phase.responseId;
    if (phase.at === 'create_requested') this.#takenBack = phase.eventId;
    this.interrupt();
  }

  /** A response runs, is asked for, or waits. */
  busy(): boolean {
    return gateBusy(this.#gate);
  }

  close(): void {
    this.#cancelDeadline();
  }

  /** Another session is about to be in force: what is asked for from here on waits for `online`, as after a loss. */
  restart(): void {
    this.#o.outputs.restart();
    if (this.#gate.phase.at === 'idle') this.#gate = { ...this.#gate, phase: { at: 'offline' } };
  }

  online(): void {
    this.#step({ type: 'online' });
  }

  /** The session in force is gone; `told` once what was asked of it is put back, before its responses are said to have ended. */
  lost(told: () => void): void {
    const { outputs, cuts } = this.#o;
    const running = outputs.running().filter(({ announced }) => announced);
    // A response that called tools goes on when they have answered.
    this.#step({ type: 'lost', again: running.every(({ toolCalls }) => toolCalls === 0) });
    told();
    for (const { responseId } of running) {
      const dropped = outputs.discarded(responseId);
      // What a dropped one said that nobody heard goes with the session.
      if (dropped) cuts.forgetUnheard(responseId, []);
      else for (const item of outputs.itemsOf(responseId)) this.#breakOff(item);
      this.#end(responseId, dropped ? 'cancelled' : 'failed', 'connection_lost');
    }
  }

  // ---- what the server says ----

  onAudio({ responseId, itemId, payload }: ServerEvent<'audio'>): void {
    const item = this.#itemOf(responseId, itemId);
    if (item === null) return;
    item.receivedBytes += payload.length;
    this.#o.outputs.response(responseId).hadAudio = true;
    this.#stalls = 0;
    this.#o.listener.audio(itemId, payload);
  }

  onAudioDone({ responseId, itemId }: ServerEvent<'audio-done'>): void {
    const item = this.#itemOf(responseId, itemId);
    if (item !== null) this.#completeAudio(item);
  }

  onText({ responseId, itemId, delta }: ServerEvent<'text'>): void {
    if (this.#itemOf(responseId, itemId) === null) return;
    this.#o.conversation.agentDelta(itemId, delta);
    this.#o.listener.text(itemId, delta);
  }

  onTextDone({ responseId, itemId, text }: ServerEvent<'text-done'>): void {
    if (this.#itemOf(responseId, itemId) === null) return;
    this.#o.conversation.agentText(itemId, text);
    this.#o.listener.textDone(itemId, text);
  }

  onItem({ responseId, item, done }: ServerEvent<'output-item'>): void {
    if (this.#itemOf(responseId, item.itemId) === null) return;
    if (done) this.#o.tools.pass(responseId, item);
  }

  onCreated({ responseId, requestId }: ServerEvent<'response-created'>): void {
    const { outputs } = this.#o;
    if (outputs.discarded(responseId) || outputs.ended(responseId)) return;
    this.#step({ type: 'created', responseId, requestId });
  }

  /** Something of a response that is of no use by itself: arguments of a tool call as they grow, and the like. */
  onProgress(): void {
    this.#progressAt = this.#o.now();
  }

  onDone(event: ServerEvent<'response-done'>): void {
    const { outputs, listener, deletions, link, log } = this.#o;
    const { responseId, requestId, status } = event;
    if (outputs.ended(responseId)) return;
    const takenBack = this.#takenBack !== null && [responseId, requestId].includes(this.#takenBack);
    if (Object.keys(event.usage).length > 0) listener.usage(event.usage, takenBack ? 'taken-back' : 'answer');
    this.#passOn(event);
    if (link.over) return;
    link.send(...deletions.again());
    if (status === 'completed') this.#stalls = 0;
    if (status === 'failed' && isFatal(event.errorCode)) {
      this.#o.fail('model_refused', `the model server refused: ${event.errorMessage ?? event.errorCode}`);
      return;
    }
    const { announced, hadAudio, toolCalls } = outputs.response(responseId);
    const passes = status === 'failed' && isPassing(event.errorCode) && !hadAudio && toolCalls === 0;
    const before = this.#gate.phase;
    const attempt = 'ask' in before ? (before.ask?.attempt ?? 0) : 0;
    const retryAfter = passes ? retryAfterMs(event.errorMessage, attempt) : null;
    this.#step({ type: 'done', responseId, requestId: event.requestId, retryAfterMs: retryAfter });
    if (link.over) return;
    if (this.#gate.phase.at === 'backing_off' && before.at !== 'backing_off') {
      log?.warn({ code: event.errorCode, attempt, retryAfterMs: retryAfter }, 'model.response.retried');
      outputs.end(responseId);
      return;
    }
    const unannounced = before.at === 'create_requested' && before.eventId === event.requestId;
    if (announced || unannounced) this.#end(responseId, status, event.errorCode ?? event.reason);
    else outputs.end(responseId);
    if (!link.over) this.#o.settled();
  }

  /** A create was refused. `retryAfterMs` null: asking again is of no use. */
  onRefused(o: {
    eventId: string | null;
    why: 'already_active' | 'failed';
    code: string;
    retryAfterMs: number | null;
  }): void {
    this.#step({ type: 'create-refused', ...o });
  }

  onCancelRefused(): void {
    this.#step({ type: 'cancel-refused' });
  }

  // ---- the gate ----

  #step(event: GateEvent): void {
    const stepped = stepGate(this.#gate, event, this.#o.now());
    this.#gate = stepped.gate;
    this.#watch();
    for (const effect of stepped.effects) if (!this.#o.link.over) this.#perform(effect);
    this.#o.link.expect(this.busy());
  }

  #perform(effect: GateEffect): void {
    const { link, outputs, listener } = this.#o;
    switch (effect.do) {
      case 'create':
        this.#progressAt = this.#o.now();
        link.send(createResponse(effect.eventId, this.#instructionsFor(effect.instructions, effect.resumes)));
        listener.requested();
        break;
      case 'cancel':
        link.send(cancelResponse(effect.eventId, effect.responseId));
        break;
      case 'discard':
        outputs.discard(effect.responseId);
        break;
      case 'started':
        this.#progressAt = this.#o.now();
        outputs.response(effect.responseId).announced = true;
        break;
      case 'refused': {
        const none = { hadAudio: false, toolCalls: 0 };
        listener.responseDone({ responseId: effect.eventId, status: 'failed', reason: effect.code, ...none });
        break;
      }
      case 'stalled':
        if (++this.#stalls > 1) this.#o.fail('model_error', `the model does not answer: ${effect.why}`);
        else this.#o.drop(effect.why);
    }
  }

  /** Holds a timer for the gate's deadline. */
  #watch(): void {
    const { link, timers, now } = this.#o;
    const at = link.over ? null : gateDeadline(this.#gate);
    if (at === this.#deadlineAt) return;
    this.#cancelDeadline();
    this.#deadlineAt = at;
    if (at === null) return;
    this.#cancelDeadline = timers.after(Math.max(0, at - now()), () => {
      this.#deadlineAt = null;
      this.#step({ type: 'deadline', progressAt: this.#progressAt });
      this.#watch();
    });
  }

  #instructionsFor(instructions: string | null, resumes: boolean): string | null {
    const note = resumes && this.#o.conversation.agentSpoke() ? this.#o.resumed : null;
    if (instructions === null && note === null) return null;
    return [this.#o.instructions, instructions, note].filter((part) => part !== null).join('\n\n');
  }

  // ---- what becomes of what a response gives ----

  /**
   * The item, where what its response gives may be passed on; else null. Items of a discarded one are only remembered, to be taken
   * out of the conversation at its end, which may not name them.
   */
  #itemOf(responseId: string, itemId: string): Output | null {
    const { outputs } = this.#o;
    if (this.#wanted(responseId)) return outputs.itemOf(responseId, itemId);
    if (outputs.discarded(responseId) && !outputs.ended(responseId)) outputs.itemOf(responseId, itemId);
    return null;
  }

  /** Whether what a response gives may be passed on. One that was asked for is taken as created by its first event. */
  #wanted(responseId: string): boolean {
    const { outputs, link } = this.#o;
    const { phase } = this.#gate;
    if (phase.at === 'active' && phase.responseId === responseId) {
      this.#progressAt = this.#o.now();
      return true;
    }
    if (outputs.discarded(responseId) || outputs.ended(responseId)) return false;
    const isDue =
      phase.at === 'create_requested' || (phase.at === 'cancel_requested' && phase.responseId === null);
    if (!isDue) return false;
    this.#step({ type: 'created', responseId, requestId: null });
    const { phase: after } = this.#gate;
    return !link.over && after.at === 'active' && after.responseId === responseId;
  }

  /** Whether the gate runs this response, or has asked for it and was not told of its beginning. */
  #expected(responseId: string, requestId: string | null): boolean {
    const { phase } = this.#gate;
    return phase.at === 'active'
      ? phase.responseId === responseId
      : phase.at === 'create_requested' && phase.eventId === requestId;
  }

  /** What a response that has ended still brings. */
  #passOn({ responseId, requestId, status, items }: ServerEvent<'response-done'>): void {
    const { outputs, cuts, tools, link } = this.#o;
    // One that nobody waits for may have run while the gate was shut: nothing of it was passed on, and nothing is now.
    if (outputs.discarded(responseId) || !this.#expected(responseId, requestId)) {
      link.send(...cuts.forgetUnheard(responseId, items));
      return;
    }
    if (status === 'completed') for (const item of items) tools.pass(responseId, item);
    for (const item of outputs.itemsOf(responseId)) this.#completeAudio(item);
  }

  #completeAudio(item: Output): void {
    if (this.#o.link.over || item.audioDone || item.cut) return;
    item.audioDone = true;
    if (item.receivedBytes > 0) this.#o.listener.audioDone(item.itemId);
  }

  /** Its text runs ahead of its audio: what was never received will not be heard. */
  #breakOff(item: Output): void {
    const { outputs, conversation } = this.#o;
    if (item.audioDone || item.cut) return;
    const receivedMs = outputs.receivedMs(item);
    const said = conversation.agentSays(item.itemId);
    const text = heardText(said, { heardMs: receivedMs, receivedMs, complete: false });
    if (text === '') conversation.drop(item.itemId);
    else conversation.cut(item.itemId, text);
    this.#completeAudio(item);
  }

  #end(responseId: string, status: ResponseEnd['status'], reason: string | null): void {
    const { hadAudio, toolCalls } = this.#o.outputs.end(responseId);
    if (!this.#o.link.over)
      this.#o.listener.responseDone({ responseId, status, reason, hadAudio, toolCalls });
  }
}
