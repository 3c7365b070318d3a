// PURE. The floor of one call: the state of its turns, and the only one who steps it. Others ask it, or tell it what happened.
import { TOLD_BY_MODEL } from './end-of-turn.ts';
import type { Depth } from './hold.ts';
import { awaitsBeep } from './machine.ts';
import { step } from './turn-state.ts';
import {
  holdOf,
  isOnLine,
  NO_EFFECTS,
  openTurns,
  type Phase,
  type TurnEffect,
  type TurnEvent,
  type TurnRules,
  type TurnState,
} from './turns.ts';

export class Floor {
  #rules: TurnRules;
  #state: TurnState;

  constructor(o: Parameters<typeof openTurns>[0], rules: TurnRules) {
    this.#rules = rules;
    this.#state = openTurns(o);
  }

  /** Others tell the caller's turns: an end that they tell is one, and nothing more is waited for. */
  believeEnds(): void {
    this.#rules = { ...this.#rules, ...TOLD_BY_MODEL };
  }

  /** No answer is begun before a turn is over. */
  waitForEnds(): void {
    this.#rules = { ...this.#rules, earlyMs: null };
  }

  /** Something has happened. Answers what is to be done, in this order; nothing where it comes too late or says nothing new. */
  tell(event: TurnEvent, now: number): readonly TurnEffect[] {
    const next = step(this.#state, event, now, this.#rules);
    if (next === null) return NO_EFFECTS;
    this.#state = next.state;
    return next.effects;
  }

  get at(): Phase['at'] {
    return this.#state.phase.at;
  }

  /** How the agent's voice goes to the carrier: as it is, in a low tone, or not at all for now. */
  get agentVoice(): 'full' | Depth {
    const hold = holdOf(this.#state);
    if (hold === null) return 'full';
    return hold.pausedSince === null ? 'ducked' : 'paused';
  }

  /** The beep of a machine may come. */
  get awaitsBeep(): boolean {
    return awaitsBeep(this.#state, this.#rules);
  }

  /** The carrier's stream is there. */
  get streaming(): boolean {
    return this.#state.streaming;
  }

  /** The other side is on the line: what the carrier says itself is heard. */
  get onLine(): boolean {
    return isOnLine(this.#state);
  }
}
