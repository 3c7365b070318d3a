// PURE. Who is audible when, at the callee's ear and mouth: spurts, barge-ins, response times, dead air. Fed once in 20 ms.
import { FRAME_MS } from './mulaw.ts';

/** A frame louder than this is someone speaking. */
export const AUDIBLE_DB = -42;
/** Pauses shorter than this are inside one stretch of speech. */
const HANGOVER_MS = 300;
/** The agent counts as speaking for so long after its last audible frame when the callee starts. */
const OVERLAP_SLACK_MS = 100;

export interface Spurt {
  startMs: number;
  endMs: number;
}
export interface BargeIn {
  calleeOnsetMs: number;
  /** End of the last audible agent frame of that stretch; null while the agent still talks. */
  agentStoppedMs: number | null;
  reactionMs: number | null;
}
export interface ConversationReport {
  /** All times in ms since the answer, on the 20 ms clock. */
  firstAgentAudioMs: number | null;
  agentSpurts: Spurt[];
  calleeSpurts: Spurt[];
  bargeIns: BargeIn[];
  /** From the end of the callee's speech to the agent's first audible frame. */
  responseMs: number[];
  overlapMs: number;
  longestSilenceMs: number;
}
export type Transition = 'agent.audible' | 'agent.stopped' | 'callee.speaking' | 'callee.stopped';

class Voice {
  readonly spurts: Spurt[] = [];
  open: Spurt | null = null;

  /** Answers what changed. A spurt's end is the end of its last audible frame. */
  step(nowMs: number, audible: boolean): 'start' | 'stop' | null {
    if (audible) {
      if (this.open) {
        this.open.endMs = nowMs;
        return null;
      }
      this.open = { startMs: nowMs - FRAME_MS, endMs: nowMs };
      this.spurts.push(this.open);
      return 'start';
    }
    if (this.open && nowMs - this.open.endMs >= HANGOVER_MS) {
      this.open = null;
      return 'stop';
    }
    return null;
  }
}

export class Conversation {
  readonly #agent = new Voice();
  readonly #callee = new Voice();
  readonly #bargeIns: BargeIn[] = [];
  readonly #responses: number[] = [];
  #overlapMs = 0;
  #silenceMs = 0;
  #longestSilenceMs = 0;

  /** `nowMs` is the end of the frame, in ms since the answer. */
  step(nowMs: number, calleeDb: number, agentDb: number, on: (transition: Transition) => void): void {
    const calleeAudible = calleeDb > AUDIBLE_DB;
    const agentAudible = agentDb > AUDIBLE_DB;
    if (calleeAudible && agentAudible) this.#overlapMs += FRAME_MS;
    this.#silenceMs = calleeAudible || agentAudible ? 0 : this.#silenceMs + FRAME_MS;
    this.#longestSilenceMs = Math.max(this.#longestSilenceMs, this.#silenceMs);

    const agent = this.#agent.step(nowMs, agentAudible);
    if (agent === 'start') {
      const last = this.#callee.spurts.at(-1);
      if (last && last.endMs < nowMs && !calleeAudible) this.#responses.push(nowMs - FRAME_MS - last.endMs);
      on('agent.audible');
    }
    const callee = this.#callee.step(nowMs, calleeAudible);
    if (callee === 'start') {
      const open = this.#agent.open;
      if (open && nowMs - open.endMs <= OVERLAP_SLACK_MS) {
        this.#bargeIns.push({ calleeOnsetMs: nowMs - FRAME_MS, agentStoppedMs: null, reactionMs: null });
      }
      on('callee.speaking');
    }
    if (callee === 'stop') on('callee.stopped');
    if (agent === 'stop') {
      this.#settle(this.#agent.spurts.at(-1)!.endMs);
      on('agent.stopped');
    }
  }

  /** The call is over: what is still open ends here. */
  finish(): void {
    const last = this.#agent.spurts.at(-1);
    if (last) this.#settle(last.endMs);
  }

  report(): ConversationReport {
    return {
      firstAgentAudioMs: this.#agent.spurts[0]?.startMs ?? null,
      agentSpurts: this.#agent.spurts,
      calleeSpurts: this.#callee.spurts,
      bargeIns: this.#bargeIns,
      responseMs: this.#responses,
      overlapMs: this.#overlapMs,
      longestSilenceMs: this.#longestSilenceMs,
    };
  }

  #settle(agentEndMs: number): void {
    for (const bargeIn of this.#bargeIns) {
      if (bargeIn.agentStoppedMs !== null) continue;
      bargeIn.agentStoppedMs = agentEndMs;
      bargeIn.reactionMs = Math.max(0, agentEndMs - bargeIn.calleeOnsetMs);
    }
  }
}
