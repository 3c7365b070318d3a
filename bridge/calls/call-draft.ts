// A step of a call while it is worked out: what has happened so far, and what is to be written and done for it. PURE. Which
// input makes what happen is call-step.ts.
import type { CallRecord } from '../../storage/records.ts';
import type { ToMedia } from '../protocol/messages.ts';
import { type CallEvent, isTerminal, type Lasted, next as transition } from './call-state.ts';
import type {
  CallRules,
  CallTimes,
  CallWrite,
  Command,
  End,
  LineState,
  LiveState,
  LookUp,
  Moment,
  Next,
  Settle,
} from './live-state.ts';

/** A step while it is worked out: what has happened so far, and what follows. */
export class Draft {
  readonly at: Moment;
  readonly rules: CallRules;
  /** As it is once the step is written. */
  call: CallRecord;
  live: LiveState;
  again = false;
  readonly #commands: Command[] = [];
  readonly #happened: CallEvent['type'][] = [];
  #write: CallWrite | null = null;

  constructor(stored: CallRecord, live: LiveState, at: Moment, rules: CallRules) {
    this.call = stored;
    this.live = live;
    this.at = at;
    this.rules = rules;
  }

  get isOver(): boolean {
    return isTerminal(this.call.status);
  }

  know(change: Partial<LiveState>): void {
    this.live = { ...this.live, ...change };
  }

  command(...commands: Command[]): void {
    this.#commands.push(...commands);
  }

  tellMedia(message: ToMedia): void {
    this.command({ do: 'tell-media', message });
  }

  log(level: 'info' | 'warn' | 'error', event: string, fields: Record<string, unknown> = {}): void {
    this.command({ do: 'log', level, event, fields });
  }

  /** Fields of the row that no event of its life has. */
  note(change: Partial<CallRecord>): void {
    this.#add({ from: [this.call.status], change, events: [], ledger: [] });
  }

  /** Something happened in the call's life; what comes late or again changes nothing. */
  happen(event: CallEvent): void {
    let { call } = this;
    // Whoever hangs up then, the agent had handed the call over.
    if (event.type === 'ended' && this.live.away?.why === 'transfer' && call.hangup_cause === null)
      call = { ...call, hangup_cause: 'transferred' };
    const step = transition(call, this.#measured(event), this.rules.pricePerMinute);
    if (step === null) return;
    const wasOver = this.isOver;
    this.#add(step);
    this.#happened.push(event.type);
    this.#mark(event);
    if (this.isOver && !wasOver) {
      this.know({ line: { at: 'open' } });
      if (call.running_tools.length > 0) this.note({ running_tools: [] });
    }
    for (const effect of step.effects) {
      if (effect === 'hang-up') this.#askLine('hang-up-at-last');
      else if (effect === 'release')
        this.#release(step.effects.includes('settle-result') ? 'result' : 'cost');
    }
  }

  /** The talk is ended by us, and this is why. */
  finishing({ cause, error }: End): void {
    this.happen({
      type: 'finishing',
      cause,
      errorCode: error?.code ?? null,
      errorMessage: error?.message ?? null,
    });
  }

  /** Ends the call: the carrier is asked once, and its own account of an end holds. */
  end(end: End, unanswered: Extract<LineState, { at: 'ending' }>['unanswered'] = 'ask_again'): void {
    const { cause } = end;
    this.finishing(end);
    if (this.isOver || this.live.line.at === 'ending') return;
    if (this.call.carrier_call_id === null) {
      // Nobody to ask: what the carrier takes later is hung up then.
      this.recordEnd(cause);
      return;
    }
    this.know({ line: { at: 'ending', since: this.at.nowMs, cause, unanswered } });
    this.#askLine('hang-up');
  }

  /** The end by our own account, where the carrier has none. */
  recordEnd(cause: End['cause'] | null): void {
    this.happen({
      type: 'ended',
      at: this.at.now,
      outcome: this.call.answered_at === null && cause !== null ? 'canceled' : 'completed',
      durationSeconds: null,
      cause,
      errorCode: null,
      errorMessage: null,
    });
  }

  /** Has the carrier asked what became of the call; false where it has none. */
  lookUp(why: LookUp): boolean {
    const { carrier_call_id: carrierCallId } = this.call;
    if (carrierCallId === null) return false;
    this.command({ do: 'look-up', carrierCallId, why });
    return true;
  }

  /** The call is nobody's any more. */
  letGo(settle: Settle): void {
    this.know({ media: { at: 'none' } });
    this.command({ do: 'let-go', settle, endedAt: this.live.times?.endedAt ?? null });
  }

  next(): Next {
    return {
      write: this.#write,
      live: this.live,
      commands: this.#commands,
      happened: this.#happened,
      again: this.again,
    };
  }

  #add({ from, change, events, ledger }: CallWrite): void {
    const before = this.#write;
    this.#write = {
      from: before?.from ?? from,
      change: { ...before?.change, ...change },
      events: [...(before?.events ?? []), ...events],
      ledger: [...(before?.ledger ?? []), ...ledger],
    };
    this.call = { ...this.call, ...change };
  }

  #askLine(what: 'hang-up' | 'hang-up-at-last'): void {
    const { carrier_call_id: carrierCallId, direction, answered_at } = this.call;
    if (carrierCallId === null) return;
    this.command({ do: what, carrierCallId, answered: direction === 'inbound' || answered_at !== null });
  }

  /** The media thread lets go; the result is settled once the last words are in. */
  #release(settle: Settle): void {
    this.know({ model: this.live.model === 'ready' ? 'ready' : 'gone' });
    if (this.live.media.at === 'none' || this.live.media.at === 'coming') {
      this.letGo(settle);
      return;
    }
    this.know({ media: { at: 'releasing', since: this.at.nowMs, settle } });
    this.command({ do: 'release' });
  }

  /** When what is told now happened: as long ago as its record says, unless the wall clock was set since. */
  #monotonicOf(times: CallTimes, at: string): number {
    const { nowMs, now } = this.at;
    const ageMs = Date.parse(now) - Date.parse(at);
    return ageMs > 0 && ageMs <= nowMs - times.madeAt ? nowMs - ageMs : nowMs;
  }

  /** Notes when it happened, so that what lasts can be measured. */
  #mark(event: CallEvent): void {
    const { times } = this.live;
    if (times === null) return;
    const atMs = 'at' in event ? this.#monotonicOf(times, event.at) : this.at.nowMs;
    const marked = { ...times };
    if (event.type === 'ringing') marked.rangAt ??= atMs;
    if (event.type === 'answered') marked.answeredAt ??= atMs;
    if (this.isOver) marked.endedAt ??= atMs;
    this.know({ times: marked });
  }

  /** An end with how long the call has lasted. */
  #measured(event: CallEvent): CallEvent {
    if (event.type !== 'ended' && event.type !== 'refused') return event;
    const lastedMs = this.#lasted(event.at);
    return lastedMs === null ? event : { ...event, lastedMs };
  }

  #lasted(at: string): Lasted | null {
    const { times } = this.live;
    if (times !== null) {
      const endMs = this.#monotonicOf(times, at);
      const connected = times.answeredAt === null ? null : endMs - times.answeredAt;
      return { call: endMs - (times.rangAt ?? times.madeAt), connected };
    }
    // The process that knew it has died: the records tell, and the carrier lets no call last longer than this.
    const { answered_at, started_at, created_at } = this.call;
    if (answered_at === null) return null;
    const { ringSeconds, maxSeconds } = this.rules;
    return {
      call: Math.min(
        (ringSeconds + maxSeconds) * 1000,
        Date.parse(at) - Date.parse(started_at ?? created_at),
      ),
      connected: Math.min(maxSeconds * 1000, Date.parse(at) - Date.parse(answered_at)),
    };
  }
}
