// PURE. What the product made of the labelled calls: reactions, false barge-ins, ends of turns, cuts into pauses.
import type { Outcome } from './conversations.ts';
import { percentile } from './scores.ts';
import type { LabelledTalk } from './talks.ts';

export interface Spread {
  count: number;
  p50: number | null;
  p95: number | null;
  max: number | null;
}

export interface Share {
  hits: number;
  of: number;
}

export interface TalkScores {
  /** Stream's start to the first sound of the greeting at the carrier. */
  greetingMs: Spread;
  /** True onset at the carrier to the end of the last frame of the agent that is not `LOWERED_DB` down. By shade, and all. */
  loweredMs: Record<string, Spread>;
  /** … and to that of the last audible one. */
  reactionMs: Record<string, Spread>;
  /** Speech over the agent's voice, of a second or more, that did not stop it. */
  bargeInsMissed: Share;
  /** Calls with sounds that mean nothing, and the barge-ins they caused; by kind and shade. */
  falseBargeIns: Record<string, Share>;
  /** The same, for times the voice was held back and let go on. */
  takenBack: Record<string, Share>;
  /** … in which it had paused; and how long the agent was not heard for each of these. */
  pausedForNothing: Record<string, Share>;
  pausedGapMs: Spread;
  /** The caller's turns whose beginning did not reach the model. */
  clipped: Share;
  /** Answers asked for before the caller had said anything: what was on the line was taken for a turn. */
  answersToNoise: Share;
  /** True end of speech to the decision. */
  endOfTurnMs: Record<string, Spread>;
  /** Turns ended inside an utterance without a pause of ours. */
  early: Share;
  /** Turns ended inside a pause of so many ms; and those in which an answer was heard before the caller had finished. */
  cut: Record<string, Share>;
  cutAudibly: Record<string, Share>;
  /** What went wrong, call by call: for whoever looks for why. */
  notes: string[];
}

const FRAME_MS = 20;
/** So far below its own loudness a voice leaves the floor to another; and fainter than this it is not heard. */
const LOWERED_DB = -12;
const AUDIBLE_DB = -50;

function spreadOf(values: readonly number[]): Spread {
  return {
    count: values.length,
    p50: percentile(values, 0.5),
    p95: percentile(values, 0.95),
    max: values.length === 0 ? null : Math.max(...values),
  };
}

const addTo = <T>(lists: Map<string, T[]>, key: string, ...values: T[]): void => {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, values);
  else list.push(...values);
};
const spreads = (lists: Map<string, number[]>) =>
  Object.fromEntries([...lists].map(([key, values]) => [key, spreadOf(values)]));

class Shares {
  readonly all: Record<string, Share> = {};

  add(key: string, hits: number, of: number): void {
    this.all[key] ??= { hits: 0, of: 0 };
    const share = this.all[key];
    share.hits += hits;
    share.of += of;
  }
}

export function judge(talks: readonly LabelledTalk[], outcomes: readonly Outcome[]): TalkScores {
  const greetings: number[] = [];
  const reactions = new Map<string, number[]>();
  const lowered = new Map<string, number[]>();
  const ends = new Map<string, number[]>();
  const missed = { hits: 0, of: 0 };
  const clipped = { hits: 0, of: 0 };
  const early = { hits: 0, of: 0 };
  const answersToNoise = { hits: 0, of: 0 };
  const falseBargeIns = new Shares();
  const takenBack = new Shares();
  const pausedForNothing = new Shares();
  const gaps: number[] = [];
  const cut = new Shares();
  const cutAudibly = new Shares();
  const notes: string[] = [];

  for (const [i, talk] of talks.entries()) {
    const outcome = outcomes[i]!;
    const [first, second] = talk.spoken;
    const answers = outcome.asked.slice(talk.greeting === null ? 0 : 1);
    if (talk.greeting !== null && outcome.audible[0] !== undefined) greetings.push(outcome.audible[0]);
    if (first !== undefined) {
      const reached = outcome.turns.find(({ committedMs }) => committedMs > first.fromMs);
      clipped.of++;
      if (reached !== undefined && reached.fromMs > first.fromMs) {
        clipped.hits++;
        notes.push(
          `${talk.name}: the model was given the words ${Math.round(reached.fromMs - first.fromMs)} ms late`,
        );
      }
    }
    if (first !== undefined && talk.kind !== 'barge-in') {
      answersToNoise.of++;
      if (answers.some((atMs) => atMs <= first.fromMs)) {
        answersToNoise.hits++;
        notes.push(`${talk.name}: answered before the caller had said anything`);
      }
    }
    switch (talk.kind) {
      case 'barge-in': {
        missed.of++;
        if (outcome.bargeIns.length === 0) {
          missed.hits++;
          notes.push(`${talk.name}: did not stop the agent`);
          break;
        }
        const answeredMs = answers.find((atMs) => atMs > first!.fromMs) ?? Number.POSITIVE_INFINITY;
        const last = outcome.audible.filter((atMs) => atMs < answeredMs).at(-1) ?? 0;
        const reactionMs = Math.max(0, last + FRAME_MS - first!.fromMs);
        addTo(reactions, 'all', reactionMs);
        addTo(reactions, talk.shade, reactionMs);
        const { gainsDb, levelsDb } = outcome.played;
        const loud = gainsDb.findLastIndex(
          (gainDb, frame) =>
            frame * FRAME_MS < answeredMs && gainDb > LOWERED_DB && levelsDb[frame]! > AUDIBLE_DB,
        );
        const loweredMs = Math.max(0, (loud + 1) * FRAME_MS - first!.fromMs);
        addTo(lowered, 'all', loweredMs);
        addTo(lowered, talk.shade, loweredMs);
        if (reactionMs > 800 || loweredMs > 400)
          notes.push(`${talk.name}: the agent was heard for ${Math.round(reactionMs)} ms`);
        break;
      }
      case 'echo':
      case 'line noise':
      case 'assent': {
        const of = Math.max(1, talk.sounds.length);
        for (const key of [talk.kind, `${talk.kind}: ${talk.shade}`]) {
          falseBargeIns.add(key, outcome.bargeIns.length, of);
          takenBack.add(key, outcome.takenBack.length, of);
          pausedForNothing.add(key, outcome.pausedForNothing.length, of);
        }
        for (const atMs of outcome.pausedForNothing) {
          const before = outcome.audible.findLast((ms) => ms < atMs);
          const after = outcome.audible.find((ms) => ms >= atMs);
          if (before !== undefined && after !== undefined) gaps.push(Math.max(0, after - before - FRAME_MS));
        }
        for (const atMs of outcome.bargeIns) {
          const sound = talk.sounds.findLast((startMs) => startMs <= atMs);
          notes.push(
            `${talk.name}: stopped the agent at ${Math.round(atMs)} ms${sound === undefined ? '' : `, ${Math.round(atMs - sound)} ms into a sound`}`,
          );
        }
        break;
      }
      case 'end of turn': {
        early.of++;
        if (answers.some((atMs) => atMs > first!.fromMs && atMs < first!.toMs)) {
          early.hits++;
          notes.push(`${talk.name}: answered before the caller had finished`);
        }
        const decidedMs = answers.find((atMs) => atMs >= first!.toMs);
        if (decidedMs === undefined) notes.push(`${talk.name}: was not answered`);
        else for (const key of ['all', talk.shade]) addTo(ends, key, decidedMs - first!.toMs);
        break;
      }
      case 'pause': {
        const decided = answers.find((atMs) => atMs > first!.fromMs && atMs < second!.toMs);
        const heard = outcome.audible.some((atMs) => atMs >= first!.toMs && atMs < second!.toMs);
        cut.add(talk.shade, decided === undefined ? 0 : 1, 1);
        cutAudibly.add(talk.shade, heard ? 1 : 0, 1);
        if (decided !== undefined)
          notes.push(
            `${talk.name}: decided ${Math.round(decided - first!.toMs)} ms into the pause${heard ? ', and was heard' : ''}`,
          );
        const decidedMs = answers.find((atMs) => atMs >= second!.toMs);
        if (decidedMs !== undefined) addTo(ends, `after a pause of ${talk.shade}`, decidedMs - second!.toMs);
      }
    }
  }
  return {
    greetingMs: spreadOf(greetings),
    loweredMs: spreads(lowered),
    reactionMs: spreads(reactions),
    bargeInsMissed: missed,
    falseBargeIns: falseBargeIns.all,
    takenBack: takenBack.all,
    pausedForNothing: pausedForNothing.all,
    pausedGapMs: spreadOf(gaps),
    clipped,
    answersToNoise,
    endOfTurnMs: spreads(ends),
    early,
    cut: cut.all,
    cutAudibly: cutAudibly.all,
    notes,
  };
}
