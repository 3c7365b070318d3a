// PURE. The person (or machine) at the other end: runs a script, one 20 ms frame at a time, listening before it speaks.
// Clips come in loaded, time comes in as an argument, everything else goes out as events.

import { FRAME_MS } from './mulaw.ts';
import type { CalleeScript, Sound, Step } from './options.ts';
import { type Clip, type ClipFrame, clipOf, keyToneSamples } from './sound.ts';

export type CalleeEvent =
  | { type: 'digit'; digit: string }
  | { type: 'hang-up'; why: string }
  | { type: 'step'; index: number; do: Step['do']; state: 'started' | 'ended' | 'skipped' };

export interface StepReport {
  do: Step['do'];
  /** ms since the answer */
  startedMs: number | null;
  endedMs: number | null;
  skipped: boolean;
}
export interface VoicemailReport {
  /** When the beep had ended and recording began. */
  beepEndedMs: number;
  messageStartMs: number | null;
  messageEndMs: number | null;
  endedBy: 'silence' | 'no_message' | 'full' | 'hang_up';
}

type When = Extract<Step, { do: 'say' }>['when'];

/** A pause this long ends a stretch of the agent's speech, for `barge_in`. */
const SPURT_GAP_MS = 500;
/** Key press and pause after it. */
const KEY_MS = 200;
const HALF_SECOND_KEY = 'w';

/** A voicemail box in the words of the step list. */
function stepsOf(script: CalleeScript): Step[] {
  const box = script.voicemail;
  if (!box) return script.steps;
  const steps: Step[] = [{ do: 'say', when: 'at_once', ...box.greeting }];
  if (box.beep) steps.push({ do: 'say', when: 'at_once', tone: box.beep, gainDb: 0 });
  const { silenceMs, noMessageMs, maxMs } = box;
  steps.push({ do: 'record', silenceMs, noMessageMs, maxMs });
  return steps;
}

/** Every sound of a script, to be loaded before the call. */
export function soundsOf(script: CalleeScript): Sound[] {
  return stepsOf(script).flatMap((step) =>
    step.do === 'say' || step.do === 'barge_in' ? [soundOf(step)] : [],
  );
}

function soundOf(step: Sound): Sound {
  return { file: step.file, tone: step.tone, gainDb: step.gainDb };
}

export class Callee {
  readonly reports: StepReport[];
  voicemail: VoicemailReport | null = null;
  readonly #steps: Step[];
  readonly #script: CalleeScript;
  readonly #clipOf: (sound: Sound) => Clip;
  readonly #emit: (event: CalleeEvent) => void;
  #index = -1;
  #stepStartMs = 0;
  #begun = false;
  #playing: { clip: Clip; next: number } | null = null;
  #digitsLeft = '';
  #nextKeyMs = 0;
  #finished = false;
  // What the callee hears.
  #agentSinceTurn = false;
  #agentLastMs = Number.NEGATIVE_INFINITY;
  /** Sound of the agent's present stretch of speech: what of it stood still on the way does not count. */
  #agentHeardMs = 0;

  constructor(script: CalleeScript, clip: (sound: Sound) => Clip, emit: (event: CalleeEvent) => void) {
    this.#script = script;
    this.#steps = stepsOf(script);
    this.#clipOf = clip;
    this.#emit = emit;
    this.reports = this.#steps.map((step) => ({
      do: step.do,
      startedMs: null,
      endedMs: null,
      skipped: false,
    }));
  }

  /** One frame: what the ear heard, then what the mouth says (null: nothing). `nowMs`: ms since the answer. */
  tick(nowMs: number, agentAudible: boolean): ClipFrame | null {
    if (agentAudible) {
      if (nowMs - this.#agentLastMs >= SPURT_GAP_MS) this.#agentHeardMs = 0;
      this.#agentHeardMs += FRAME_MS;
      this.#agentLastMs = nowMs;
      this.#agentSinceTurn = true;
    }
    // Bounded: steps that take no time follow each other within a tick.
    for (let guard = 0; guard <= this.#steps.length + 1; guard++) {
      if (this.#playing) {
        const frame = this.#playing.clip.frames[this.#playing.next++];
        if (frame) return frame;
        this.#playing = null;
        this.#agentSinceTurn = agentAudible;
        this.#next(nowMs);
        continue;
      }
      if (this.#index < 0) this.#next(nowMs);
      const step = this.#steps[this.#index];
      if (!step) {
        if (!this.#finished) {
          this.#finished = true;
          if (this.#script.then === 'hang_up') this.#emit({ type: 'hang-up', why: 'script ended' });
        }
        return null;
      }
      if (!this.#run(step, nowMs)) return null;
    }
    return null;
  }

  /** The call ended: a message being recorded ends with it. */
  finish(nowMs: number): void {
    const step = this.#steps[this.#index];
    if (step?.do === 'record' && this.voicemail && this.reports[this.#index]!.endedMs === null) {
      this.#endMessage('hang_up', nowMs);
    }
  }

  /** Answers whether to look again in this tick. */
  #run(step: Step, nowMs: number): boolean {
    switch (step.do) {
      case 'say':
        return this.#due(step.when, nowMs) && this.#say(this.#clipOf(soundOf(step)), nowMs);
      case 'barge_in': {
        if (this.#hasHeard(step.afterAgentMs, nowMs)) {
          return this.#say(this.#clipOf(soundOf(step)), nowMs);
        }
        if (nowMs - this.#stepStartMs < step.timeoutMs) return false;
        this.reports[this.#index]!.skipped = true;
        this.#emit({ type: 'step', index: this.#index, do: step.do, state: 'skipped' });
        this.#next(nowMs);
        return true;
      }
      case 'dtmf':
        return this.#keys(step, nowMs);
      case 'wait':
        this.#begin(nowMs);
        if (nowMs - this.#stepStartMs < step.ms) return false;
        this.#next(nowMs);
        return true;
      case 'record':
        return this.#record(step, nowMs);
      case 'hang_up':
        if (!this.#due(step.when, nowMs)) return false;
        this.#begin(nowMs);
        this.#next(nowMs);
        this.#finished = true;
        this.#emit({ type: 'hang-up', why: 'script' });
        return false;
    }
  }

  /** Whether the agent is talking, and so much of it was heard. */
  #hasHeard(agentMs: number, nowMs: number): boolean {
    const talking = nowMs - this.#agentLastMs < SPURT_GAP_MS && this.#agentSinceTurn;
    return talking && this.#agentHeardMs > agentMs;
  }

  #due(when: When, nowMs: number): boolean {
    if (when === 'at_once') return true;
    if ('afterAgentMs' in when)
      return this.#hasHeard(when.afterAgentMs, nowMs) || nowMs - this.#stepStartMs >= when.timeoutMs;
    const silentMs = nowMs - this.#agentLastMs;
    if (this.#agentSinceTurn && silentMs >= when.afterAgentSilenceMs) return true;
    return nowMs - this.#stepStartMs >= when.timeoutMs;
  }

  #say(clip: Clip, nowMs: number): boolean {
    this.#begin(nowMs);
    this.#playing = { clip, next: 0 };
    return true;
  }

  #keys(step: Extract<Step, { do: 'dtmf' }>, nowMs: number): boolean {
    if (!this.#begun) {
      if (!this.#due(step.when, nowMs)) return false;
      if (step.inBand) return this.#say(clipOf('keys', keyToneSamples(step.digits)), nowMs);
      this.#begin(nowMs);
      this.#digitsLeft = step.digits;
      this.#nextKeyMs = nowMs;
    }
    if (nowMs < this.#nextKeyMs) return false;
    const digit = this.#digitsLeft[0];
    if (digit === undefined) {
      this.#next(nowMs);
      return true;
    }
    this.#digitsLeft = this.#digitsLeft.slice(1);
    this.#nextKeyMs = nowMs + (digit === HALF_SECOND_KEY ? 500 : KEY_MS);
    if (digit !== HALF_SECOND_KEY) this.#emit({ type: 'digit', digit });
    return false;
  }

  #record(step: Extract<Step, { do: 'record' }>, nowMs: number): boolean {
    if (!this.#begun) {
      this.#begin(nowMs);
      this.voicemail = {
        beepEndedMs: nowMs - FRAME_MS,
        messageStartMs: null,
        messageEndMs: null,
        endedBy: 'hang_up',
      };
    }
    const message = this.voicemail!;
    if (this.#agentLastMs === nowMs) {
      message.messageStartMs ??= nowMs - FRAME_MS;
      message.messageEndMs = nowMs;
    }
    const silentMs = message.messageEndMs === null ? 0 : nowMs - message.messageEndMs;
    const sinceBeepMs = nowMs - this.#stepStartMs;
    if (message.messageEndMs !== null && silentMs >= step.silenceMs)
      return this.#endMessage('silence', nowMs);
    if (message.messageEndMs === null && sinceBeepMs >= step.noMessageMs)
      return this.#endMessage('no_message', nowMs);
    if (sinceBeepMs >= step.maxMs) return this.#endMessage('full', nowMs);
    return false;
  }

  #endMessage(endedBy: VoicemailReport['endedBy'], nowMs: number): boolean {
    this.voicemail!.endedBy = endedBy;
    this.#next(nowMs);
    if (endedBy !== 'hang_up') this.#emit({ type: 'hang-up', why: `voicemail: ${endedBy}` });
    this.#finished = true;
    return false;
  }

  #begin(nowMs: number): void {
    if (this.#begun) return;
    this.#begun = true;
    this.reports[this.#index]!.startedMs = nowMs - FRAME_MS;
    this.#emit({ type: 'step', index: this.#index, do: this.#steps[this.#index]!.do, state: 'started' });
  }

  #next(nowMs: number): void {
    const ended = this.#steps[this.#index];
    if (ended) {
      const report = this.reports[this.#index]!;
      report.endedMs = nowMs;
      if (!report.skipped) this.#emit({ type: 'step', index: this.#index, do: ended.do, state: 'ended' });
    }
    this.#index += 1;
    this.#begun = false;
    this.#stepStartMs = nowMs;
  }
}
