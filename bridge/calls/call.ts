// One call on the control side: the only one who writes its row, and the only one who commands its carrier and its media
// thread. All that comes in is taken one after the other; what it makes of the call is call-step.ts.
import { AppError, CallElsewhere } from '../../errors.ts';
import type { CallRecord } from '../../storage/records.ts';
import type { Conflict } from '../../storage/store.ts';
import type { TranscriptUpdate, TurnTimes } from '../protocol/messages.ts';
import { awayBy } from './call-again.ts';
import { CallCarry, COMING_MS } from './call-carry.ts';
import type { CallContext } from './call-context.ts';
import { topUp } from './call-credit.ts';
import { CallDial, type Rivals } from './call-dial.ts';
import { CallLine } from './call-line.ts';
import { CallMedia } from './call-media.ts';
import { noteOptOut } from './call-opt-out.ts';
import { lookAt } from './call-resume.ts';
import { showStep } from './call-shown.ts';
import { isTerminal } from './call-state.ts';
import { step } from './call-step.ts';
import { CallToolRuns } from './call-tool-runs.ts';
import { CallWords } from './call-words.ts';
import type { LiveCall } from './calls.ts';
import { Lane } from './lane.ts';
import {
  type Ask,
  type CallInput,
  type CallRules,
  type Command,
  type End,
  isPatient,
  type LiveState,
  leftBehind,
  newLiveState,
  takenOver,
  unwritten,
} from './live-state.ts';
import { NextLook } from './next-look.ts';
import { hasParts } from './recording-parts.ts';
import type { InterruptionTimes } from './turn-log.ts';
import { Waiters } from './waiters.ts';

/** A row that changes under a step is stepped again so often. */
const MOST_TRIES = 3;

type WithoutStream = Extract<CallInput, { type: 'stream-asked' | 'stream-over' }>;

/** An input that was taken: its step is written, and what it asked of others is `underWay`. */
interface Taken {
  call: CallRecord | null;
  again: boolean;
  underWay: Promise<unknown>;
}

const NOTHING: Taken = { call: null, again: false, underWay: Promise.resolve() };

export class Call {
  readonly id: string;
  /** Name of its carrier. */
  readonly carrier: string;
  readonly #o: CallContext;
  readonly #line: CallLine;
  readonly #dial: CallDial;
  readonly #media: CallMedia;
  readonly #words: CallWords;
  readonly #lane: Lane;
  readonly #rules: CallRules;
  readonly #onLetGo: (call: Call) => void;
  readonly #tools: CallToolRuns;
  readonly #carry: CallCarry;
  readonly #waiters = new Waiters();
  readonly #nextLook: NextLook;
  #live: LiveState = leftBehind();
  /** As it was last read or written. */
  #row: CallRecord;
  #hangUp: Promise<unknown> | null = null;
  #floor: LiveCall['floor'] = 'none';
  #isLetGo = false;

  /** `record`: as it is stored, or is to be. `onLetGo`: the call is over, and nobody's any more. */
  constructor(o: CallContext, record: CallRecord, onLetGo: (call: Call) => void) {
    const carrier = o.carrierOf(record.carrier);
    const { ringSeconds, maxSeconds, pricePerMinute, reserveMinutes } = o;
    this.id = record.id;
    this.carrier = record.carrier;
    this.#o = o;
    this.#row = record;
    this.#onLetGo = onLetGo;
    const own = record.direction === 'inbound' ? record.to_number : record.from_number;
    const mayHandOver = async (to: string) => {
      const ask = { to, from: own, only: 'destination' } as const;
      return (await o.store.decideOutbound(record.org_id, ask)).refusals.length === 0;
    };
    this.#line = new CallLine({ ...o, callId: record.id, carrier, mayHandOver });
    const ownParts = { context: o, row: () => this.#row, tell: (input: CallInput) => this.tell(input) };
    this.#dial = new CallDial({
      ...ownParts,
      line: this.#line,
      hasLine: (withinMs) => this.#waiters.until(() => this.#row.carrier_call_id !== null, withinMs),
    });
    this.#media = new CallMedia(o, record);
    this.#words = new CallWords(o, record.id);
    const media = this.#media;
    this.#tools = new CallToolRuns({ ...ownParts, media, said: (items) => this.said(items) });
    const { id: callId } = record;
    const parts = { callId, media, line: this.#line, words: this.#words, tools: this.#tools };
    this.#carry = new CallCarry({ context: o, ...parts });
    this.#lane = new Lane(o.store);
    this.#nextLook = new NextLook(o.monotonicMs, () => this.#look());
    this.#rules = {
      ringSeconds,
      maxSeconds,
      pricePerMinute,
      reserveMinutes,
      carrier: this.#line.rules,
      texts: o.texts.line,
    };
  }

  /** Null while no media thread has it. */
  get picture(): LiveCall | null {
    const { thread } = this.#media;
    return thread === null ? null : { callId: this.id, thread, floor: this.#floor };
  }

  /** Where its stream is awaited, and the token that it must bring. */
  get awaited(): { path: string; token: string } {
    return this.#media.awaited;
  }

  /**
   * A new call: its row is made, and its media thread opens the model. Whatever comes in meanwhile waits.
   * @throws AppError at_capacity when no thread runs; the call has failed then
   */
  create<R extends Conflict>(make: () => Promise<CallRecord | R>, patience: number): Promise<CallRecord | R> {
    return this.#lane.run(async () => {
      const made = await this.#make(make);
      if ('conflict' in made) return made;
      this.#row = made;
      this.#o.observer.changed?.(made);
      try {
        this.#media.prepare(made, { machine: this.#line.machinePlan(made), patience, resumed: null });
        this.#live = newLiveState(this.#o.monotonicMs(), this.#o.reserveMinutes);
      } catch (error) {
        const message = 'No media thread was free.';
        await (await this.#step({ type: 'dial-refused', code: 'at_capacity', message })).underWay;
        throw error;
      }
      return made;
    });
  }

  /**
   * Has the carrier place the call, once. An answer that is lost is looked for, and the call never dialled again.
   * @throws AppError carrier_error when the carrier refuses; the call has failed then
   */
  dial(): Promise<CallRecord> {
    return this.#dial.place();
  }

  /** It is the call of a process that has died: what comes for it waits, until it is known what becomes of it. */
  takeOver(): void {
    this.#live = takenOver(this.#o.monotonicMs());
  }

  /**
   * The call of a process that has died goes on here, or comes to its end, as far as the carrier can be asked.
   * @param rivals who else may have its line, asked when the carrier has named the lines
   */
  async recover(aliveAt: string | null, rivals: () => Promise<Rivals>): Promise<void> {
    if (awayBy(this.#row)?.why !== 'transfer') await this.#carry.noteLeft();
    if (this.#row.carrier_call_id === null) await this.#dial.find(rivals);
    const { carrier_call_id } = this.#row;
    const seen = carrier_call_id === null ? null : await this.#line.lookUp(carrier_call_id);
    await this.follow({ type: 'recovered', seen, aliveAt });
  }

  /** Takes an input. Resolves when its step is written, with the call as it is then; what it asks of others goes on. */
  async tell(input: CallInput): Promise<CallRecord> {
    const { call, underWay } = await this.#take(input);
    underWay.catch((error: unknown) => {
      this.#o.log.error({ call_id: this.id, input: input.type, err: error }, 'call.step_failed');
    });
    return call ?? this.#row;
  }

  /** Takes an input. Resolves when all that came of it is done and written, with the call as it is then. */
  async follow(input: CallInput): Promise<CallRecord> {
    const { underWay } = await this.#take(input);
    await underWay;
    return this.#row;
  }

  /** Ends the call. Of several who do at once the first does it; all resolve when the carrier has answered, or has not. */
  async end(input: End | 'requested'): Promise<CallRecord> {
    await this.follow(input === 'requested' ? { type: 'hang-up-requested' } : { type: 'end', ...input });
    await this.#hangUp;
    return this.#row;
  }

  /** The call is without its stream. Resolves when the carrier has its command; with true: to be told again a little later. */
  async withoutStream(input: WithoutStream): Promise<boolean> {
    await this.#waiters.until(() => this.#live.media.at !== 'coming', COMING_MS);
    const { again, underWay } = await this.#take(input);
    await underWay;
    return again;
  }

  /** Resolves with whether the model is ready, or with null when it is not known after so long. */
  async modelReady(withinMs: number): Promise<boolean | null> {
    await this.#waiters.until(() => this.#live.model !== 'opening', withinMs);
    return this.#live.model === 'opening' ? null : this.#live.model === 'ready';
  }

  /** Resolves with true once the carrier has the call or it is over, with false after so long. */
  dialled(withinMs: number): Promise<boolean> {
    const isThere = () => this.#row.carrier_call_id !== null || isTerminal(this.#row.status);
    return this.#waiters.until(isThere, withinMs);
  }

  /** Resolves when nothing of the call is being worked on any more. */
  async idle(): Promise<void> {
    for (let last: unknown = null; last !== this.#lane.last; ) {
      last = this.#lane.last;
      await last;
      await Promise.allSettled([this.#hangUp]);
    }
  }

  /** Who has the floor. `atMs` since the media stream's start. */
  floor(floor: LiveCall['floor'], atMs: number): void {
    this.#floor = floor;
    this.#o.observer.floor?.(this.id, floor, atMs);
  }

  /** How fast an answer came. */
  turn(times: TurnTimes): void {
    if (this.#live.media.at !== 'none') this.#words.turn(times);
  }

  /** Speech into the agent's voice, which `takenBack` went on. */
  interruption(times: InterruptionTimes, takenBack: boolean): void {
    if (this.#live.media.at !== 'none') this.#words.interruption(times, takenBack);
  }

  /** What was said: timed by the stream's beginning, in the lane where that may be being written, and stored beside it. */
  async said(items: readonly TranscriptUpdate[]): Promise<void> {
    const say = () => ({ stored: this.#words.said(items, this.#row.stream_began_at) });
    // Once known, it stays the same.
    const { stored } = this.#row.stream_began_at === null ? await this.#lane.run(async () => say()) : say();
    await stored;
  }

  /** A call that could not be made is nobody's. */
  async #make<R extends Conflict>(make: () => Promise<CallRecord | R>): Promise<CallRecord | R> {
    let made: CallRecord | R | null = null;
    try {
      made = await make();
      return made;
    } finally {
      if (made === null || 'conflict' in made) this.#onLetGo(this);
    }
  }

  #take(input: CallInput): Promise<Taken> {
    return this.#lane.run(() => this.#step(input), { patient: isPatient(input) });
  }

  /** In the lane: reads the row, steps, writes, and begins what the step asks for. */
  async #step(input: CallInput): Promise<Taken> {
    const { store } = this.#o;
    for (let tries = 0; tries < MOST_TRIES; tries++) {
      const patient = isPatient(input);
      // What is told again and again needs nothing of the row, which nobody else writes while the call talks.
      const stored = patient && tries === 0 ? this.#row : await store.findCall(this.id);
      if (stored === null) return NOTHING;
      const moment = {
        nowMs: this.#o.monotonicMs(),
        now: this.#o.now().toISOString(),
        writable: store.writable(),
      };
      const { write, ...next } = step(stored, this.#live, input, moment, this.#rules);
      let saved: CallRecord | Conflict = stored;
      try {
        if (write !== null)
          saved = await this.#lane.store(patient, (patience) => store.saveCall(this.id, write, patience));
      } catch (error) {
        this.#live = unwritten(this.#live, next.live, moment.nowMs);
        throw error;
      }
      if ('conflict' in saved) {
        if (saved.conflict !== 'not_owner') continue;
        await this.#step({ type: 'replaced' });
        throw new CallElsewhere(this.id, await this.#o.store.ownerOf(this.id));
      }
      this.#live = next.live;
      this.#row = saved;
      for (const happened of next.happened) this.#o.failpoint(`${happened.replace('-', '_')}_stored`);
      const underWay = Promise.all(next.commands.map((command) => this.#perform(command)));
      // Whoever told it hears of it; nobody else must.
      underWay.catch(() => {});
      showStep(this.#o, stored, saved, next.happened.length > 0);
      this.#waiters.wake();
      this.#nextLook.at(lookAt(saved, next.live, this.#rules));
      return { call: saved, again: next.again, underWay };
    }
    throw new AppError('conflict', 'The call changed while it was being changed; try again.', {
      retryable: true,
    });
  }

  #look(): void {
    this.tell({ type: 'look' }).catch((error: unknown) => {
      this.#o.log.error({ call_id: this.id, err: error }, 'call.watch_failed');
    });
  }

  /** Does what a step asks for, in the lane up to its first wait; what the carrier answers comes in as an input. */
  async #perform(command: Command): Promise<unknown> {
    switch (command.do) {
      case 'hang-up':
        return this.#askToEnd(command);
      case 'hang-up-at-last':
        void this.#line.hangUpAtLast(command);
        return null;
      case 'connect':
        return this.#line.connect(command.carrierCallId, this.#media.offer);
      case 'connect-unasked':
        return this.#line.connectUnasked(command.carrierCallId, this.#media.offer);
      case 'look-up': {
        const seen = await this.#line.lookUp(command.carrierCallId);
        return this.follow({ type: 'looked-up', seen, why: command.why });
      }
      case 'speak-and-hang-up':
        return (await this.#line.speakAndHangUp(command)) || this.follow({ type: 'not-spoken' });
      case 'send-digits':
      case 'transfer': {
        const why = await this.#line.leave(command);
        return why === null || this.follow({ type: 'not-away', toolCallId: command.toolCallId, why });
      }
      case 'note-opt-out':
        return this.follow(await noteOptOut(this.#o.store, this.#row, command));
      case 'tell-media':
        return this.#media.tell(command.message);
      case 'carry-again':
        return this.#carryAgain();
      case 'expect-stream':
        return this.#media.expectStream();
      case 'run-tool':
        return this.#words.awaits(this.#tools.run(command));
      case 'top-up':
        return this.follow(await topUp(this.#o, this.#lane, this.id, command));
      case 'release':
        this.#tools.stop();
        return this.#media.release() || this.follow({ type: 'released' });
      case 'let-go':
        return this.#letGo(command);
      case 'log':
        return this.#o.log[command.level]({ call_id: this.id, ...command.fields }, command.event);
    }
  }

  /** Another thread takes the call, as soon as one runs. */
  async #carryAgain(): Promise<unknown> {
    const take = await this.#carry.ready();
    const { underWay } = await this.#lane.run(async () => {
      const { media, times } = this.#live;
      return media.at === 'coming' ? this.#step(take(this.#row, times?.streamAt ?? null)) : NOTHING;
    });
    return underWay;
  }

  #askToEnd(ask: Ask<'hang-up'>): Promise<unknown> {
    const asked = this.#line.hangUp(ask).then((answer) => {
      if (answer !== null) this.#o.failpoint('hung_up_before_end');
      return this.follow({ type: 'hang-up-answered', answer });
    });
    this.#hangUp = asked;
    return asked.finally(() => {
      if (this.#hangUp === asked) this.#hangUp = null;
    });
  }

  async #letGo({ settle, endedAt }: Ask<'let-go'>): Promise<void> {
    this.#tools.stop();
    // It is here until all is stored, and until what its last words may have shown is known: that it is another's.
    if (settle !== 'nothing') {
      this.#words.breakOff();
      await this.#words.stored();
      await this.#lane.run(async () => {});
    }
    if (this.#isLetGo) return;
    this.#isLetGo = true;
    if (settle !== 'nothing' && hasParts(this.#row)) await this.#o.joinRecording(this.#row);
    this.#words.close();
    this.#onLetGo(this);
    this.#media.leave();
    if (settle === 'cost') this.#o.settleCost(this.id);
    else if (settle === 'result')
      this.#o.settleResult(this.id, endedAt === null ? 0 : this.#o.monotonicMs() - endedAt);
  }
}
