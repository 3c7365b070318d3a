// What the media threads report, brought to storage, the carrier and whoever watches.
import { v7 as newId } from 'uuid';
import { AppError } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import { isNumber } from '../carriers/caller-id.ts';
import { NOT_POSSIBLE } from '../carriers/carrier.ts';
import type { FromMedia } from '../protocol/messages.ts';
import type { Away, CallDesk, LiveEntry } from './call-desk.ts';
import { isTerminal } from './call-state.ts';
import { openTranscriptBatch } from './transcript-batch.ts';

type CallMessage = Exclude<FromMedia, { type: 'listening' | 'load' | 'log' }>;

/** Reads the messages of all media threads, each call's in order. */
export function openMediaInbox(desk: CallDesk): (message: FromMedia) => void {
  const { live, apply, carrierOf, inOrder, endNow, turnLog } = desk;
  const { store, log } = desk.o;
  const o = desk.o;
  const texts = o.texts.line;
  const saveTogether = openTranscriptBatch(store, log);

  async function finished(message: Extract<FromMedia, { type: 'finished' }>): Promise<void> {
    const { callId } = message;
    const entry = live.get(callId);
    if (entry === undefined) return;
    if (entry.away?.why === 'transfer' && message.reason.startsWith('model_')) {
      // The two others talk on without the agent.
      entry.away.modelLost = true;
      return;
    }
    entry.tellModelReady(false);
    const error =
      message.errorCode === null
        ? null
        : { code: message.errorCode, message: message.errorMessage ?? message.errorCode };
    // Nothing more comes from there: if this fails, the watch ends the call, for the same reason.
    const talk = { cause: message.reason, error };
    entry.finishing = { at: o.monotonicMs(), speaking: false, talk };
    const call = await store.findCall(callId);
    if (
      message.speak === null ||
      call === null ||
      call.carrier_call_id === null ||
      call.answered_at === null
    ) {
      await endNow(callId, message.reason, error);
      return;
    }
    entry.finishing = { at: o.monotonicMs(), speaking: true, talk };
    await inOrder(callId, async () => {
      await store.saveCall(callId, {
        from: ['in_progress'],
        change: {
          hangup_cause: message.reason,
          error_code: error?.code ?? null,
          error_message: error?.message ?? null,
        },
      });
    });
    try {
      await carrierOf(call).speakAndHangUp(call.carrier_call_id, message.speak);
    } catch {
      await endNow(callId, message.reason, error);
    }
  }

  async function runTool(message: Extract<FromMedia, { type: 'tool-called' }>): Promise<void> {
    const entry = live.get(message.callId);
    const call = await store.findCall(message.callId);
    if (entry === undefined || call === null) return;
    const { ok, output } = await o.runTool({
      call,
      name: message.name,
      argumentsJson: message.argumentsJson,
      signal: entry.tools.signal,
    });
    desk.pool().post(message.callId, {
      type: 'tool-result',
      callId: message.callId,
      toolCallId: message.toolCallId,
      output,
    });
    await saveItems(message.callId, [
      {
        id: newId(),
        role: 'tool',
        text: JSON.stringify({
          name: message.name,
          arguments: message.argumentsJson,
          ok,
          output: output.slice(0, 4_000),
        }),
        heardText: '',
        interrupted: false,
        startMs: message.atMs,
        endMs: null,
      },
    ]);
  }

  /** Has the carrier take the line out of the talk; its tool is answered when the line is back, or here when it never left. */
  async function leave(
    message: { callId: string; toolCallId: string },
    why: Away['why'],
    result: Away['result'],
    ask: (call: CallRecord, carrierCallId: string) => Promise<void>,
  ): Promise<void> {
    const { callId, toolCallId } = message;
    const entry = live.get(callId);
    const call = await store.findCall(callId);
    if (entry === undefined || call?.carrier_call_id == null || isTerminal(call.status)) return;
    entry.away = { why, toolCallId, since: o.monotonicMs(), result, modelLost: false };
    log.info({ call_id: callId, why }, 'call.away');
    try {
      await ask(call, call.carrier_call_id);
    } catch (error) {
      log.warn({ call_id: callId, why, err: error }, 'carrier.not_away');
      const impossible = error instanceof AppError && error.carrierCode === NOT_POSSIBLE;
      // Of a fault the model need not know more.
      const told = impossible ? texts.notPossible[why] : texts.refused;
      comeBack(entry, { ok: false, error: told });
    }
  }

  function comeBack(entry: LiveEntry, result: Away['result']): void {
    const { away, callId } = entry;
    if (away === null) return;
    entry.away = null;
    log.info({ call_id: callId, why: away.why }, 'call.back');
    desk.pool().post(callId, {
      type: 'tool-result',
      callId,
      toolCallId: away.toolCallId,
      output: JSON.stringify(result),
    });
  }

  /** Ends a call that is no more than its stream: whoever was there has left. */
  async function endsWithStream(callId: string): Promise<boolean> {
    const call = await store.findCall(callId);
    if (call === null || !carrierOf(call).capabilities.streamIsCall) return false;
    await apply(callId, {
      type: 'ended',
      at: o.now().toISOString(),
      outcome: 'completed',
      durationSeconds: null,
      cause: null,
      errorCode: null,
      errorMessage: null,
    });
    return true;
  }

  async function saveItems(
    callId: string,
    items: Extract<FromMedia, { type: 'transcript' }>['items'],
  ): Promise<void> {
    const base = Date.parse(live.get(callId)?.mediaStartedAt ?? o.now().toISOString());
    const records = items.map((item) => ({
      id: item.id,
      call_id: callId,
      role: item.role,
      text: item.text,
      heard_text: item.heardText,
      interrupted: item.interrupted,
      started_at: new Date(base + item.startMs).toISOString(),
      start_ms: Math.round(item.startMs),
      end_ms: item.endMs === null ? null : Math.round(item.endMs),
    }));
    const saved = await saveTogether(records);
    if (saved.length > 0) o.observer.words?.(callId, saved);
  }

  async function onMediaMessage(message: CallMessage): Promise<void> {
    const { callId } = message;
    const entry = live.get(callId);
    switch (message.type) {
      case 'alive':
        if (entry !== undefined) entry.aliveAt = o.monotonicMs();
        return;
      case 'model-ready':
        entry?.tellModelReady(true);
        return;
      case 'media-started': {
        if (entry === undefined) return;
        entry.token.used = true;
        entry.streaming = true;
        entry.lostAt = null;
        entry.answered = true;
        entry.mediaStartedAt ??= message.at;
        const call = await store.findCall(callId);
        if (call !== null && call.carrier_call_id === null) {
          await apply(callId, { type: 'accepted', carrierCallId: message.carrierCallId });
        }
        await apply(callId, { type: 'answered', at: message.at });
        if (entry.away !== null) comeBack(entry, entry.away.result);
        o.failpoint?.('media_started');
        return;
      }
      case 'stream-ended':
        if (entry === undefined) return;
        entry.streaming = false;
        if (await endsWithStream(callId)) return;
        // The carrier ended it and will say why; or it only broke, and then the carrier asks what comes next.
        if (message.how === 'stopped') entry.finishing ??= { at: o.monotonicMs(), speaking: false };
        else entry.lostAt = o.monotonicMs();
        return;
      case 'floor':
        if (entry === undefined) return;
        entry.floor = message.floor;
        o.observer.floor?.(callId, message.floor, message.atMs);
        return;
      case 'transcript':
        await saveItems(callId, message.items);
        return;
      case 'turn':
        // What comes after a call was let go of, with a thread that died, has no number to go by.
        if (entry !== undefined) {
          const turn = turnLog.turn(callId, message.times);
          o.observer.turn?.(turn);
        }
        return;
      case 'barge-in':
        if (entry !== undefined) {
          const interruption = turnLog.interruption(callId, message, false);
          o.observer.interruption?.(interruption);
        }
        return;
      case 'hold-taken-back':
        if (entry !== undefined) {
          const times = { atMs: message.resumedMs, onsetMs: message.onsetMs, heldMs: message.heldMs };
          const interruption = turnLog.interruption(callId, times, true);
          o.observer.interruption?.(interruption);
        }
        return;
      case 'tool-called':
        await runTool(message);
        return;
      case 'usage': {
        if (entry === undefined) return;
        for (const [name, count] of Object.entries(message.usage)) {
          entry.usage[name] = (entry.usage[name] ?? 0) + count;
        }
        const usage = { ...entry.usage };
        await inOrder(callId, async () => {
          const call = await store.findCall(callId);
          if (call !== null) await store.saveCall(callId, { from: [call.status], change: { usage } });
        });
        return;
      }
      case 'digits-requested':
        await leave(message, 'digits', { ok: true }, (call, id) =>
          carrierOf(call).sendDigits(id, message.digits, { callId: call.id }),
        );
        return;
      case 'transfer-requested':
        await leave(message, 'transfer', { ok: false, error: texts.transferFailed.unknown }, (call, id) => {
          // Who has no number has none to show on; then it is the number that was called.
          const from = isNumber(call.from_number) ? call.from_number : call.to_number;
          return carrierOf(call).transfer(id, message.number, { callId: call.id, from });
        });
        return;
      case 'finished':
        await finished(message);
        return;
      case 'released':
        o.failpoint?.('ended_before_settle');
        log.info({ call_id: callId, ...message.stats }, 'media.released');
        // Behind what is still being written of it.
        await inOrder(callId, async () => desk.forget(callId));
        return;
    }
  }

  return (message) => {
    if (message.type === 'listening' || message.type === 'load' || message.type === 'log') return;
    onMediaMessage(message).catch((error: unknown) => {
      log.error({ call_id: message.callId, message: message.type, err: error }, 'media.message_failed');
    });
  };
}
