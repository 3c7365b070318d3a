// A realtime session with an OpenAI-compatible server: the contract of model.ts over the gate (when to ask), the ledger
// (what a new session is told), the caller's turns and the model's outputs. Sockets and dialling are connection.ts.
import type { Log } from '../../../log.ts';
import type { FaultCode } from '../../protocol/call-reasons.ts';
import { heardText } from '../../turns/heard-text.ts';
import { createCallerTurns } from '../caller-turns.ts';
import type { ModelConfig, ModelListener, ModelSession } from '../model.ts';
import {
  createGate,
  type GateEffect,
  type GateEvent,
  gateBusy,
  gateDeadline,
  stepGate,
} from '../response-gate.ts';
import {
  cancelResponse,
  clearAudio,
  commitAudio,
  createItem,
  createResponse,
  PREFIX_PADDING_MS,
} from './client-events.ts';
import { openModelConnection } from './connection.ts';
import { createCuts } from './cuts.ts';
import { isFatal, isPassing, judgeError, retryAfterMs } from './errors.ts';
import { createLedger } from './ledger.ts';
import { createOutputs, type Output } from './outputs.ts';
import type { ModelEvent, OutputItem } from './server-events.ts';
import { type ModelSocket, systemTimers, type Timers } from './socket.ts';

/** Five frames an append: a fifth of the messages. Nobody waits for them: a commit sends the rest at once. */
const APPEND_BYTES = 800;
/** Where the server listens for turns it is not kept waiting. */
const APPEND_AT_ONCE_BYTES = 320;
/** Audio that the network has not taken: base64 in JSON is about 11 kB a second. */
const BACKLOG_LIMIT_BYTES = 10 * 11_000;
const BYTES_PER_MS = 8;
/** Where the server tells the turns: what is kept of the sound between them, for a session that takes over. */
const SILENCE_KEPT_MS = 1_000;
const DEFAULT_RENEW_SECONDS = 3_300;
/** A renewal waits so long for the words of the caller's last turn, then tells its audio again. */
const WORDS_WAIT_MS = 10_000;

export interface OpenAISessionOptions {
  log?: Log;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
  timers?: Timers;
  /** Age at which the session moves to a new one, between turns. */
  renewAfterSeconds?: number;
}

type ServerEvent<T extends ModelEvent['type']> = Extract<ModelEvent, { type: T }>;
type ResponseEnd = Parameters<ModelListener['responseDone']>[0];

/** A session, dialled by `open()`. The listener is called from sockets and timers, never from within a verb. */
export function openOpenAISession(
  config: ModelConfig,
  listener: ModelListener,
  o: OpenAISessionOptions = {},
): ModelSession {
  const { log } = o;
  const timers = o.timers ?? systemTimers;
  const now = o.now ?? (() => performance.now());
  const turns = createCallerTurns();
  /** The server tells the turns: it is given all sound, and commits by itself. */
  const serverTells = (config.turnDetection ?? 'local') !== 'local';
  let callerSpeaks = false;
  /** Items that the server has committed and no turn has asked for yet. */
  let committedItems: string[] = [];
  /** Milliseconds given to the session in force. */
  let givenMs = 0;
  const ledger = createLedger(config.texts.unintelligible);
  const outputs = createOutputs();
  const cuts = createCuts(outputs, ledger);
  let gate = createGate();
  let socket: ModelSocket | null = null;
  let over = false;
  let wasOnline = false;
  let sessions = 0;
  let serial = 0;
  let droppedBytes = 0;
  let progressAt = 0;
  let lastTurnAt = 0;
  /** Sessions given up in a row because no response came. */
  let stalls = 0;
  let deadlineAt: number | null = null;
  let cancelDeadline = () => {};

  const connection = openModelConnection({
    config,
    timers,
    now,
    log,
    renewAfterMs: (o.renewAfterSeconds ?? DEFAULT_RENEW_SECONDS) * 1000,
    listener: {
      online,
      event: handle,
      lost,
      failed(failure) {
        finish();
        listener.failed(failure);
      },
      mayMove: () =>
        !gateBusy(gate) &&
        (serverTells ? !callerSpeaks : turns.openMs() === 0) &&
        (!turns.unsettled() || now() - lastTurnAt > WORDS_WAIT_MS),
    },
  });

  const eventId = (what: string) => `${what}_${++serial}`;
  const send = (events: readonly string[]) => {
    for (const event of events) socket?.send(event);
  };

  function finish(): void {
    over = true;
    socket = null;
    cancelDeadline();
  }

  function fail(code: FaultCode, message: string): void {
    if (over) return;
    finish();
    void connection.close();
    listener.failed({ code, message });
  }

  /** After the verb that calls for it has returned. */
  function soon(run: () => void): void {
    queueMicrotask(() => {
      if (!over) run();
    });
  }

  // ---- the gate ----

  function step(event: GateEvent): void {
    const stepped = stepGate(gate, event, now());
    gate = stepped.gate;
    watch();
    for (const effect of stepped.effects) if (!over) perform(effect);
    socket?.expect(gateBusy(gate));
  }

  function perform(effect: GateEffect): void {
    switch (effect.do) {
      case 'create':
        progressAt = now();
        socket?.send(createResponse(effect.eventId, instructionsFor(effect.instructions, effect.resumes)));
        listener.requested();
        break;
      case 'cancel':
        socket?.send(cancelResponse(effect.eventId, effect.responseId));
        break;
      case 'discard':
        outputs.discard(effect.responseId);
        break;
      case 'started':
        progressAt = now();
        outputs.response(effect.responseId).announced = true;
        listener.responseStarted(effect.responseId);
        break;
      case 'refused': {
        const none = { hadAudio: false, toolCalls: 0 };
        listener.responseDone({ responseId: effect.eventId, status: 'failed', reason: effect.code, ...none });
        break;
      }
      case 'stalled':
        if (++stalls > 1) fail('model_error', `the model does not answer: ${effect.why}`);
        else connection.drop(effect.why);
    }
  }

  /** Holds a timer for the gate's deadline. */
  function watch(): void {
    const at = over ? null : gateDeadline(gate);
    if (at === deadlineAt) return;
    cancelDeadline();
    deadlineAt = at;
    if (at === null) return;
    cancelDeadline = timers.after(Math.max(0, at - now()), () => {
      deadlineAt = null;
      step({ type: 'deadline', progressAt });
      watch();
    });
  }

  /** Instructions of one response replace the session's, so both are sent. */
  function instructionsFor(instructions: string | null, resumes: boolean): string | null {
    const note = resumes && ledger.agentSpoke() ? config.texts.resumed : null;
    if (instructions === null && note === null) return null;
    return [config.instructions, instructions, note].filter((part) => part !== null).join('\n\n');
  }

  // ---- sessions come and go ----

  function online(fresh: ModelSocket, info: { renewed: boolean; tookMs: number }): void {
    socket = fresh;
    wasOnline = true;
    sessions++;
    outputs.restart();
    turns.restart();
    givenMs = 0;
    committedItems = [];
    // The new session hears him begin again.
    callerSpeaks = false;
    const told = ledger.seeds(`said_${sessions}_`);
    cuts.restart(told.items);
    for (const seed of told.seeds) {
      if (seed.kind === 'audio' && serverTells) {
        // It would take the sound for the caller's voice of now.
        const text = config.texts.unintelligible;
        fresh.send(createItem(eventId('seed'), { kind: 'text', id: null, role: 'user', text }));
        ledger.callerText(seed.turn, null);
        soon(() => settle(seed.turn, null));
      } else if (seed.kind === 'audio') {
        fresh.append(seed.audio);
        commit(fresh, seed.turn);
      } else fresh.send(createItem(eventId('seed'), seed));
    }
    sendAudio(0);
    log?.debug({ ...info, told: told.seeds.length, droppedBytes }, 'model.session.ready');
    // A renewal finds the gate idle: for what is asked in `ready` it is as closed as after a loss.
    if (gate.phase.at === 'idle') gate = { ...gate, phase: { at: 'offline' } };
    listener.ready(info);
    if (!over) step({ type: 'online' });
  }

  function lost(why: string): void {
    socket = null;
    const running = outputs.running().filter(({ announced }) => announced);
    // A response that called tools goes on when they have answered.
    step({ type: 'lost', again: running.every(({ toolCalls }) => toolCalls === 0) });
    listener.reconnecting(why);
    for (const { responseId } of running) {
      const dropped = outputs.discarded(responseId);
      // What a dropped one said that nobody heard goes with the session.
      if (dropped) cuts.forgetUnheard(responseId, []);
      else for (const item of outputs.itemsOf(responseId)) breakOff(item);
      endResponse(responseId, dropped ? 'cancelled' : 'failed', 'connection_lost');
    }
  }

  /** Its text runs ahead of its audio: what was never received will not be heard. */
  function breakOff(item: Output): void {
    if (item.audioDone || item.cut) return;
    const receivedMs = outputs.receivedMs(item);
    const text = heardText(ledger.agentSays(item.itemId), {
      heardMs: receivedMs,
      receivedMs,
      complete: false,
    });
    if (text === '') ledger.drop(item.itemId);
    else ledger.cut(item.itemId, text);
    completeAudio(item);
  }

  function sendAudio(leastBytes: number): void {
    const stretch = socket === null ? null : turns.unsent(leastBytes);
    if (socket === null || stretch === null) return;
    socket.append(stretch);
    givenMs += stretch.length / BYTES_PER_MS;
    if (socket.backlogBytes() > BACKLOG_LIMIT_BYTES)
      soon(() => connection.drop('the model server does not take the audio'));
  }

  function commit(to: ModelSocket, turn: number): void {
    turns.sent(turn);
    to.send(commitAudio(`commit_${turn}`));
  }

  // ---- what the server says ----

  function handle(event: ModelEvent): void {
    if (over) return;
    switch (event.type) {
      case 'audio':
        if (!wanted(event.responseId)) break;
        outputs.itemOf(event.responseId, event.itemId).receivedBytes += event.payload.length;
        outputs.response(event.responseId).hadAudio = true;
        stalls = 0;
        listener.audio(event.itemId, event.payload);
        break;
      case 'audio-done':
        if (wanted(event.responseId)) completeAudio(outputs.itemOf(event.responseId, event.itemId));
        break;
      case 'text':
        if (!wanted(event.responseId)) break;
        outputs.itemOf(event.responseId, event.itemId);
        ledger.agentDelta(event.itemId, event.delta);
        listener.text(event.itemId, event.delta);
        break;
      case 'text-done':
        if (!wanted(event.responseId)) break;
        outputs.itemOf(event.responseId, event.itemId);
        ledger.agentText(event.itemId, event.text);
        listener.textDone(event.itemId, event.text);
        break;
      case 'output-item':
        if (!wanted(event.responseId)) break;
        outputs.itemOf(event.responseId, event.item.itemId);
        if (event.done) passToolCall(event.responseId, event.item);
        break;
      case 'response-created':
        if (outputs.discarded(event.responseId) || outputs.ended(event.responseId)) break;
        step({ type: 'created', responseId: event.responseId, requestId: event.requestId });
        break;
      case 'response-done':
        responseDone(event);
        break;
      case 'speech-started':
      case 'speech-stopped': {
        if (!serverTells) break;
        callerSpeaks = event.type === 'speech-started';
        const paddedMs = callerSpeaks && config.turnDetection === 'server_vad' ? PREFIX_PADDING_MS : 0;
        const agoMs = Math.max(0, givenMs - event.atMs - paddedMs);
        if (callerSpeaks) committedItems = [];
        listener.callerSpeech(callerSpeaks ? 'started' : 'stopped', agoMs);
        break;
      }
      case 'committed': {
        const turn = turns.acknowledged(event.itemId);
        if (turn === null && serverTells) committedItems.push(event.itemId);
        if (turn !== null && config.transcriptionModel === null) settle(turn, null);
        break;
      }
      case 'transcript':
        transcript(event);
        break;
      case 'error':
        serverError(event);
        break;
      case 'ignored':
        // Arguments of a tool call as they grow, and the like.
        if (event.event.startsWith('response.')) progressAt = now();
        break;
      default:
    }
  }

  /**
   * Whether what a response gives may be passed on. One that was asked for is taken as created by its first event;
   * items of a discarded one are only remembered, to be taken out of the conversation at its end.
   */
  function wanted(responseId: string): boolean {
    const { phase } = gate;
    if (phase.at === 'active' && phase.responseId === responseId) {
      progressAt = now();
      return true;
    }
    if (outputs.discarded(responseId) || outputs.ended(responseId)) return false;
    const isDue =
      phase.at === 'create_requested' || (phase.at === 'cancel_requested' && phase.responseId === null);
    if (!isDue) return false;
    step({ type: 'created', responseId, requestId: null });
    return !over && gate.phase.at === 'active' && gate.phase.responseId === responseId;
  }

  /** Whether the gate runs this response, or has asked for it and was not told of its beginning. */
  function expected(responseId: string, requestId: string | null): boolean {
    const { phase } = gate;
    return phase.at === 'active'
      ? phase.responseId === responseId
      : phase.at === 'create_requested' && phase.eventId === requestId;
  }

  function completeAudio(item: Output): void {
    if (over || item.audioDone || item.cut) return;
    item.audioDone = true;
    if (item.receivedBytes > 0) listener.audioDone(item.itemId);
  }

  /** A tool call is passed on once, when its item is complete. */
  function passToolCall(responseId: string, item: OutputItem): void {
    const { toolCallId, name, argumentsJson } = item;
    if (over || item.kind !== 'tool-call' || toolCallId === '') return;
    if (item.status !== 'completed' && item.status !== '') return;
    if (!outputs.firstTime(toolCallId)) return;
    outputs.response(responseId).toolCalls++;
    // It stays in the conversation whatever becomes of the response: its answer will follow.
    outputs.itemOf(responseId, item.itemId).cut = true;
    ledger.toolCall({ toolCallId, name, argumentsJson });
    listener.toolCall({ toolCallId, name, argumentsJson });
  }

  function responseDone(event: ServerEvent<'response-done'>): void {
    const { responseId, status } = event;
    if (outputs.ended(responseId)) return;
    if (Object.keys(event.usage).length > 0) listener.usage(event.usage);
    // One that nobody waits for may have run while the gate was shut: nothing of it was passed on, and nothing is now.
    if (outputs.discarded(responseId) || !expected(responseId, event.requestId))
      send(cuts.forgetUnheard(responseId, event.items));
    else {
      if (status === 'completed') for (const item of event.items) passToolCall(responseId, item);
      for (const item of outputs.itemsOf(responseId)) completeAudio(item);
    }
    if (over) return;
    if (status === 'completed') stalls = 0;
    if (status === 'failed' && isFatal(event.errorCode)) {
      fail('model_refused', `the model server refused: ${event.errorMessage ?? event.errorCode}`);
      return;
    }
    const { announced, hadAudio, toolCalls } = outputs.response(responseId);
    const passes = status === 'failed' && isPassing(event.errorCode) && !hadAudio && toolCalls === 0;
    const before = gate.phase;
    const attempt = 'ask' in before ? (before.ask?.attempt ?? 0) : 0;
    const retryAfter = passes ? retryAfterMs(event.errorMessage, attempt) : null;
    step({ type: 'done', responseId, requestId: event.requestId, retryAfterMs: retryAfter });
    if (over) return;
    if (gate.phase.at === 'backing_off' && before.at !== 'backing_off') {
      log?.warn({ code: event.errorCode, attempt, retryAfterMs: retryAfter }, 'model.response.retried');
      outputs.end(responseId);
      return;
    }
    const unannounced = before.at === 'create_requested' && before.eventId === event.requestId;
    if (announced || unannounced) endResponse(responseId, status, event.errorCode ?? event.reason);
    else outputs.end(responseId);
    if (!over) connection.moveIfReady();
  }

  function endResponse(responseId: string, status: ResponseEnd['status'], reason: string | null): void {
    const { hadAudio, toolCalls } = outputs.end(responseId);
    if (!over) listener.responseDone({ responseId, status, reason, hadAudio, toolCalls });
  }

  function transcript(event: ServerEvent<'transcript'>): void {
    const turn = turns.turnOf(event.itemId);
    if (turn === null) return;
    // Of a repeated event nothing is counted twice.
    if (turns.unsettled(turn) && Object.keys(event.usage).length > 0) listener.usage(event.usage);
    if (over) return;
    const text = event.text === null || event.text.trim() === '' ? null : event.text;
    ledger.callerText(turn, text);
    settle(turn, text);
  }

  function settle(turn: number, text: string | null): void {
    if (turns.settle(turn)) listener.callerText(turn, text);
    if (!over) connection.moveIfReady();
  }

  function serverError(error: ServerEvent<'error'>): void {
    const judged = judgeError(error);
    const refused = { type: 'create-refused', eventId: error.eventId, code: error.code } as const;
    const aboutCreate = error.eventId?.startsWith('create_') ?? false;
    switch (judged.means) {
      case 'nothing':
        return;
      case 'fatal':
        fail('model_refused', `the model server refused: ${error.message || error.code}`);
        return;
      case 'expired':
        connection.drop('the session has expired');
        return;
      case 'cancel-refused':
        step({ type: 'cancel-refused' });
        return;
      case 'already-active':
        step({ ...refused, why: 'already_active', retryAfterMs: null });
        return;
      case 'commit-empty': {
        const named = /^commit_(\d+)$/.exec(error.eventId ?? '');
        const turn = turns.refused(named ? Number(named[1]) : null);
        if (turn === null) return;
        ledger.dropCaller(turn);
        settle(turn, null);
        return;
      }
      case 'truncate-too-long':
        send(cuts.tooLong(error.eventId, judged.availableMs));
        return;
      case 'passing':
        if (aboutCreate) step({ ...refused, why: 'failed', retryAfterMs: judged.retryAfterMs });
        break;
      case 'unexpected':
        if (aboutCreate) step({ ...refused, why: 'failed', retryAfterMs: null });
    }
    log?.warn({ code: error.code, param: error.param, eventId: error.eventId }, 'model.error');
  }

  return {
    capabilities: { mulaw: true, truncates: true },
    open() {
      if (!over) connection.open();
    },
    appendAudio(payload) {
      if (over || !wasOnline) {
        droppedBytes += payload.length;
        return;
      }
      turns.append(payload);
      sendAudio(serverTells ? APPEND_AT_ONCE_BYTES : APPEND_BYTES);
      if (serverTells && !callerSpeaks) turns.keep(SILENCE_KEPT_MS);
    },
    clearAudio() {
      if (over) return;
      if (turns.clear()) socket?.send(clearAudio(eventId('clear')));
      soon(connection.moveIfReady);
    },
    commitTurn() {
      if (over) return null;
      sendAudio(0);
      const committed = turns.commit();
      if (committed === null) return null;
      lastTurnAt = now();
      ledger.caller(committed.turn, committed.audio);
      if (serverTells) {
        turns.sent(committed.turn);
        const itemId = committedItems.shift();
        if (itemId !== undefined) turns.acknowledged(itemId);
      } else if (socket !== null) commit(socket, committed.turn);
      return committed.turn;
    },
    respond(request) {
      if (!over) step({ type: 'ask', instructions: request?.instructions ?? null });
    },
    interrupt(items) {
      if (over) return;
      step({ type: 'interrupt' });
      for (const item of items) send(cuts.cut(item));
      soon(connection.moveIfReady);
    },
    addText(role, text) {
      if (over) return;
      ledger.text(role, text);
      socket?.send(createItem(eventId('text'), { kind: 'text', id: null, role, text }));
    },
    sendToolResult(toolCallId, output) {
      if (over) return;
      ledger.toolOutput(toolCallId, output);
      socket?.send(createItem(eventId('output'), { kind: 'tool-output', id: null, toolCallId, output }));
    },
    ageSeconds: () => connection.ageMs() / 1000,
    renew() {
      if (!over) connection.renew();
    },
    busy: () => !over && gateBusy(gate),
    async close() {
      finish();
      await connection.close();
    },
  };
}
