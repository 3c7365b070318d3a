// What the control thread is told of a talk as it goes: the lines of the transcript and what was heard of them, the moments of
// each answer, who has the floor, what held the agent's voice back or cut it short.
import type { Usage } from '../models/model.ts';
import type { SpokenLine } from '../protocol/agent-texts.ts';
import type { Fault } from '../protocol/call-reasons.ts';
import type {
  EndReason,
  FloorHolder,
  FromMedia,
  ShortWordEnd,
  TranscriptUpdate,
  TurnTimes,
} from '../protocol/messages.ts';
import { askedFor } from '../turns/asked-for.ts';
import { asksNotToBeCalled } from '../turns/opt-out.ts';
import type { Cut } from '../turns/playout.ts';
import type { TurnEffect } from '../turns/turns.ts';
import { AnswerTimes, type Begun } from './answer-times.ts';
import type { Leaving } from './call-tools.ts';
import { DisclosureTold } from './disclosure-told.ts';
import { Transcript } from './transcript.ts';

/** What failed, where a talk does not end in order. A model that was lost says why itself. */
const FAULTS: { readonly [reason in EndReason]?: Fault } = {
  model_failed: { code: 'model_error', message: 'The speech model was lost.' },
  model_silent: { code: 'model_silent', message: 'The speech model did not answer in time.' },
  stalled: { code: 'call_stalled', message: 'Neither side was heard for longer than anything may take.' },
};

/** The agent may have understood words before they are written down. */
const MOST_WORDS_MS = 2_000;

export class TalkRecord {
  bargeIns = 0;
  /** What was heard of the agent and is not answered yet asks for what is dictated: a number, a name, a spelling. */
  asks = false;
  /** Holds that were taken back: the agent could be heard to be lowered; and of these, those in which it paused. */
  falseBargeIns = 0;
  falsePauses = 0;
  /** Answers that the model was asked for before the caller's turn was over, and those of them that nobody heard. */
  earlyAnswers = 0;
  thrownAwayAnswers = 0;
  readonly #callId: string;
  readonly #post: (message: FromMedia) => void;
  readonly #now: () => number;
  readonly #transcript: Transcript;
  readonly #times: AnswerTimes;
  #said = '';
  #disclosure: DisclosureTold | null = null;
  #lastWords: TranscriptUpdate | null = null;
  #mayOptOut: boolean;
  #wordsArrived: (() => void) | null = null;

  constructor(o: {
    callId: string;
    post: (message: FromMedia) => void;
    now: () => number;
    newId: () => string;
    /** The other side may ask not to be called again. */
    mayOptOut?: boolean;
  }) {
    this.#mayOptOut = o.mayOptOut ?? false;
    this.#callId = o.callId;
    this.#post = o.post;
    this.#now = o.now;
    this.#transcript = new Transcript(o.newId);
    const tell = (times: TurnTimes) => o.post({ type: 'turn', callId: o.callId, times });
    this.#times = new AnswerTimes({ now: o.now, tell });
  }

  /**
   * An answer is wanted.
   * @param speechEndMs of the turn it answers; null where it answers none
   * @param early what has become of it already, where the model was asked before
   */
  wanted(kind: TurnTimes['kind'], speechEndMs: number | null, early: Begun | null = null): void {
    if (early !== null) this.earlyAnswers++;
    this.#times.open(kind, speechEndMs, early);
  }

  /** The same, unless one is wanted already. */
  stillWanted(): void {
    this.#times.openIfNone('answer');
  }

  /** The model was asked. */
  requested(): void {
    this.#times.requested();
  }

  /** The first sound of an item has come. */
  received(): void {
    this.#times.received();
  }

  /** The first frame of an item was handed to the carrier. */
  readonly sent = (itemId: string): void => {
    this.#begins(itemId);
    this.#transcript.agentStarted(itemId, Math.round(this.#now()));
    this.#times.sent();
  };

  /** A mark has come back that confirms so many milliseconds more of the agent's voice. */
  heard(confirmedMs: number): void {
    this.#times.heard(confirmedMs);
  }

  /** Nobody waits for an answer any more. */
  unwanted(): void {
    this.#times.close(false);
  }

  /** The same, and none will be waited for. */
  over(): void {
    this.#times.end();
  }

  /** An answer begun early was thrown away unheard; what its response used, as far as that is known. */
  thrownAway(usage: readonly Partial<Usage>[]): void {
    this.earlyAnswers++;
    this.thrownAwayAnswers++;
    this.#times.thrownAway();
    for (const one of usage) this.wasted(one);
  }

  used(usage: Partial<Usage>): void {
    this.#post({ type: 'usage', callId: this.#callId, usage });
  }

  /** Used for an answer that was thrown away. */
  wasted(usage: Partial<Usage>): void {
    const { input_text_tokens = 0, input_audio_tokens = 0 } = usage;
    const { output_text_tokens = 0, output_audio_tokens = 0 } = usage;
    const thrown = {
      thrown_away_input_tokens: input_text_tokens + input_audio_tokens,
      thrown_away_output_tokens: output_text_tokens + output_audio_tokens,
    };
    this.#post({ type: 'usage', callId: this.#callId, usage: { ...usage, ...thrown } });
  }

  /** The line is asked for that comes before all else. */
  disclosing(line: string): void {
    this.#disclosure = new DisclosureTold(line);
  }

  /** Whatever the agent says from now on is something else. */
  disclosed(): void {
    this.#disclosure?.over();
  }

  /** All that was said of that line was heard. */
  get told(): boolean {
    return this.#disclosure?.told ?? false;
  }

  agentText(itemId: string, delta: string): void {
    this.#begins(itemId);
    this.#transcript.agentText(itemId, delta, this.#now());
  }

  agentTextDone(itemId: string, text: string): void {
    this.#begins(itemId);
    this.#sayOf(itemId, this.#transcript.agentTextDone(itemId, text, this.#now()), null);
    this.#heardWords();
  }

  /** All of an item was heard. */
  itemHeard(itemId: string, receivedMs: number): void {
    this.#sayOf(itemId, this.#transcript.agentHeard(itemId, receivedMs, this.#now()), receivedMs);
    this.#heardWords();
  }

  /** So much of an item was heard by now: each further word is told, so that whoever takes the call up knows of it. */
  hearing(sofar: Cut | null): void {
    if (sofar !== null)
      this.#sayOf(sofar.itemId, this.#transcript.agentHearing(sofar.itemId, sofar), sofar.heardMs);
  }

  /** An item was cut. Answers the words of it that were heard. */
  itemCut(cut: Cut): string {
    const update = this.#transcript.agentCut(cut.itemId, cut, this.#now());
    this.#sayOf(cut.itemId, update, cut.heardMs);
    this.#heardWords();
    return update?.heardText ?? '';
  }

  /** The line is back that was gone for so long: nothing was heard meanwhile. */
  lineBack(goneMs: number): void {
    this.#transcript.lineBack(goneMs);
  }

  /** What the agent said that was not begun to be heard will not be. */
  agentSilenced(): void {
    for (const line of this.#transcript.agentSilenced()) this.#say(line);
  }

  /** Nobody hears the agent any more. */
  agentLeft(): void {
    for (const line of this.#transcript.agentLeft()) this.#say(line);
  }

  /** A turn of the caller's is over; its words come later. */
  callerTurn(turn: number, fromMs: number, endMs: number): void {
    this.#say(this.#transcript.callerTurn(turn, Math.round(fromMs), Math.round(endMs)));
  }

  /** A word over the agent's voice was given to the model by itself; its words come later. */
  callerWord(turn: number, fromMs: number, endMs: number): void {
    this.#transcript.callerWord(turn, Math.round(fromMs), Math.round(endMs));
  }

  /** The words of one have come, and this is what became of it. */
  wordKnown(became: ShortWordEnd): void {
    this.#post({ type: 'short-word', callId: this.#callId, became });
  }

  /** What the agent says of which there may be more to hear. */
  agentSays(): string {
    return this.#transcript.agentSays();
  }

  /** The words of a turn; null: not to be made out. */
  callerText(turn: number, text: string | null): void {
    const line = this.#transcript.callerText(turn, text);
    this.#say(line);
    if (line !== null && text) {
      this.#lastWords = line;
      if (asksNotToBeCalled(text)) this.#optedOut('words');
    }
    if (this.#transcript.outstanding() === 0) this.#wordsArrived?.();
  }

  /** The agent has understood that the other side asks not to be called again: told with the words, which may come later. */
  async understood(): Promise<void> {
    await this.words(MOST_WORDS_MS);
    this.#optedOut('tool');
  }

  /** The other side asks not to be called again, by what it said last. Told once. */
  #optedOut(by: 'words' | 'tool'): void {
    if (!this.#mayOptOut) return;
    this.#mayOptOut = false;
    const { id: itemId, text, startMs } = this.#lastWords ?? { id: null, text: '', startMs: this.#now() };
    this.#post({ type: 'opted-out', callId: this.#callId, by, text, itemId, atMs: Math.round(startMs) });
  }

  /** A line that was not spoken. */
  note(role: 'tool' | 'system' | 'caller', text: string): void {
    this.#say(this.#transcript.note(role, text, this.#now()));
  }

  floor(floor: FloorHolder): void {
    this.#post({ type: 'floor', callId: this.#callId, floor, atMs: this.#now() });
  }

  /** The caller cut the agent short. `silencedMs`: when the agent's last sample was heard. */
  bargedIn(by: Extract<TurnEffect, { do: 'interrupt' }>, silencedMs: number): void {
    this.bargeIns++;
    // The turn first: an interruption is of the last one told.
    this.#times.close(true);
    this.#post({
      type: 'barge-in',
      callId: this.#callId,
      atMs: this.#now(),
      onsetMs: by.onsetMs ?? null,
      heldMs: by.heldMs ?? null,
      pausedMs: by.pausedMs ?? null,
      silencedMs,
    });
  }

  /** Sound held the voice and came to nothing. */
  resumed({ onsetMs, heldMs, pausedMs }: Extract<TurnEffect, { do: 'resume' }>): void {
    this.falseBargeIns++;
    if (pausedMs !== null) this.falsePauses++;
    const resumedMs = this.#now();
    this.#post({ type: 'hold-taken-back', callId: this.#callId, onsetMs, heldMs, pausedMs, resumedMs });
  }

  /** The line leaves the talk, and is to come back with another stream. */
  left(leaving: Leaving): void {
    const callId = this.#callId;
    const { toolCallId } = leaving;
    if (leaving.what === 'digits')
      this.#post({ type: 'digits-requested', callId, toolCallId, digits: leaving.digits });
    else {
      const { target, number } = leaving;
      this.#post({ type: 'transfer-requested', callId, toolCallId, target, number });
    }
    this.unwanted();
  }

  /**
   * The talk is over.
   * @param modelLost why, where the model was
   * @param apology what the carrier's own voice is to say where something failed; null: nobody would hear it
   */
  ended(reason: EndReason, modelLost: Fault | null, apology: SpokenLine | null): void {
    this.unwanted();
    const fault = (reason === 'model_failed' ? modelLost : null) ?? FAULTS[reason] ?? null;
    this.#post({
      type: 'finished',
      callId: this.#callId,
      reason,
      errorCode: fault?.code ?? null,
      errorMessage: fault?.message ?? null,
      speak: fault === null ? null : apology,
    });
  }

  /** Resolves when the words of all turns are there, or after `limitMs`. */
  async words(limitMs: number): Promise<void> {
    if (this.#transcript.outstanding() === 0) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, limitMs);
      this.#wordsArrived = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #heardWords(): void {
    const lines = this.#transcript.agentSaid();
    const said = lines.join('\n');
    if (said === this.#said) return;
    this.#said = said;
    // Into a silence it may say something else; what it has asked for before stands.
    this.asks = lines.some((line) => askedFor(line) !== null);
  }

  /** An item of which nothing was known. */
  #begins(itemId: string): void {
    if (this.#disclosure !== null && !this.#transcript.knows(itemId)) this.#disclosure.begins(itemId);
  }

  /** A line of the agent's, of which so much was heard; null: that is told of no more. */
  #sayOf(itemId: string, item: TranscriptUpdate | null, heardMs: number | null): void {
    this.#say(item);
    const disclosure = item && this.#disclosure?.update(itemId, item, heardMs);
    // Of one that was begun again, what was heard before stands until more is.
    if (disclosure && disclosure.heardText !== '')
      this.#post({ type: 'disclosure', callId: this.#callId, disclosure });
  }

  #say(item: TranscriptUpdate | null): void {
    if (item !== null) this.#post({ type: 'transcript', callId: this.#callId, items: [item] });
  }
}
