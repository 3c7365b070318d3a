// What one talk asks of its model: answers, lines of its own, words to be said as they are; and what is told to it in the other
// side's place. What was asked last is remembered, in case it has to be asked for again.
import type { CutItem, ModelSession } from '../models/model.ts';
import { fillIn, type TalkTexts, WORDED_IN } from '../protocol/agent-texts.ts';
import type { TurnEffect } from '../turns/turns.ts';
import type { TalkRecord } from './talk-record.ts';

export class ModelRequests {
  readonly #model: ModelSession;
  readonly #texts: TalkTexts;
  readonly #language: string | null;
  readonly #record: TalkRecord;
  /** What the response asked for last was to be about, beside the session's instructions. */
  #asked: string | null = null;

  /** @param o.language of the call; null: the caller's decides */
  constructor(o: { model: ModelSession; texts: TalkTexts; language: string | null; record: TalkRecord }) {
    this.#model = o.model;
    this.#texts = o.texts;
    this.#language = o.language;
    this.#record = o.record;
  }

  /** An answer to what was said, or to what a tool brought, is due. @param brokeIn to a word that stopped the agent */
  answer(brokeIn = false): void {
    if (this.#model.capabilities.answersByItself) {
      this.#asked = null;
      this.#record.requested();
    } else this.#ask(brokeIn ? this.#texts.brokeIn : null);
  }

  /** The agent is to speak without a turn of the caller's before it. */
  speak(effect: Extract<TurnEffect, { do: 'speak' }>): void {
    switch (effect.what) {
      case 'greeting':
        this.#record.wanted('greeting', null);
        this.#ask(this.#texts.greeting ?? '');
        return;
      case 'cut-off':
        this.#record.wanted('prompt', null);
        this.#ask(this.#texts.cutOff);
        return;
      case 'owed':
        this.#record.wanted('answer', null);
        this.#ask(null);
        return;
      case 'idle':
        this.#record.wanted('prompt', null);
        this.#ask(this.#texts.idle[(effect.silences ?? 1) - 1] ?? '');
        return;
      case 'voicemail':
        this.#record.wanted('prompt', null);
        this.#ask(this.#texts.voicemail);
        return;
      case 'line-back':
        this.#record.wanted('prompt', null);
        this.#ask(this.#texts.lineBack);
        return;
      case 'retry':
        if (this.#model.busy()) this.#model.interrupt([]);
        this.#record.stillWanted();
        this.#ask(this.#asked);
        return;
      case 'moment':
        if (this.#model.busy()) this.#model.interrupt([]);
        this.#model.respond({ instructions: this.#texts.moment });
        return;
      case 'filler':
        this.#model.respond({ instructions: this.#texts.moment });
        return;
      case 'continue':
        this.#record.stillWanted();
        this.answer();
        return;
    }
  }

  /** Has a line of ours said: word for word where it is worded in the language of the call, else in that of the conversation. */
  say(line: string): void {
    if (this.#model.capabilities.saysLines && this.#language === WORDED_IN) this.#model.say(line);
    else this.#model.respond({ instructions: fillIn(this.#texts.sayLine, { line }) });
  }

  /** Has the line said that comes before all else: as it stands, it is worded in the language of the call. */
  disclose(line: string): void {
    if (this.#model.busy()) this.#model.interrupt([]);
    if (this.#model.capabilities.saysLines) this.#model.say(line);
    else this.#model.respond({ instructions: fillIn(this.#texts.disclose, { line }) });
  }

  /** The caller typed words. @param respond asks for the answer */
  typed(text: string, respond: boolean): void {
    this.#record.note('caller', text);
    this.#told(text, respond);
  }

  /** The caller pressed keys. @param respond asks for the answer */
  pressed(keys: string, respond: boolean): void {
    this.#record.note('system', fillIn(this.#texts.keysNote, { keys }));
    this.#told(fillIn(this.#texts.keysPressed, { keys }), respond);
  }

  /** Tools are waited for no longer. */
  giveUp(toolCallIds: readonly string[]): void {
    for (const toolCallId of toolCallIds)
      this.#model.sendToolResult(toolCallId, JSON.stringify({ error: this.#texts.refused.timedOut }));
  }

  /** The agent was cut short, or what it was about to say was dropped. @param cuts what was heard of each item that was not over */
  interrupt(cuts: readonly CutItem[]): void {
    if (cuts.length > 0 || this.#model.busy()) this.#model.interrupt(cuts);
    if (cuts.length === 0 || this.#model.capabilities.truncates) return;
    const heard = cuts.flatMap(({ heardText }) => heardText || []).join(' ');
    const { cutUnheard, cutShort } = this.#texts;
    this.#model.addText('system', heard === '' ? cutUnheard : fillIn(cutShort, { heard }));
  }

  #ask(instructions: string | null): void {
    this.#asked = instructions;
    this.#model.respond(instructions === null ? undefined : { instructions });
  }

  #told(text: string, respond: boolean): void {
    if (respond) this.#record.wanted('answer', null);
    this.#model.addText('user', text);
    if (respond) this.#ask(null);
  }
}
