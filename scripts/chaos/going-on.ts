// PURE. What became of the talks that a break found: which went on, how long nobody was heard, and what of the words from
// before is lost. From the carrier's accounts of the calls and the daemon's transcripts; epoch times in ms.
import type { Spurt } from '../carrier-simulator/conversation.ts';
import type { CallReport } from '../carrier-simulator/report.ts';

/** A moment at which what carried the talks was gone, or stood still. */
export interface Break {
  atMs: number;
  /** When somebody took connections again; the break itself where that never stopped. */
  backMs: number;
}

export interface Line {
  role: string;
  text: string;
  start_ms: number;
  end_ms: number | null;
}

interface ToldLine extends Line {
  /** What of it was heard, as the daemon has it. */
  heard_text: string;
}

export interface Talk {
  report: CallReport;
  /** Null: the daemon knows no such call. */
  transcript: readonly ToldLine[] | null;
}

/** One talk that a break found. */
export interface Hit {
  sid: string;
  break: Break;
  /** `left`: the person hung up before anything could be heard. */
  outcome: 'gone_on' | 'left' | 'lost';
  /** How it ended, where it is lost. */
  why: string;
  /** Between the last frame before and the next stream. */
  gapMs: number | null;
  /** From when connections were taken again, or the person's last word after that, to the agent's first sound. */
  silenceMs: number | null;
  /** Words that the agent had said aloud before the break and that the transcript does not have as heard. */
  agentWordsLost: number;
  /** Turns of the person that were over before the break and are not in the transcript. */
  turnsLost: number;
}

/** What is written down is this late at most, as docs/operations.md promises. */
const WRITTEN_MS = 300;
/** Spans of the 20 ms clocks of two programs, and the way to the ear. */
const CLOCK_SLACK_MS = 200;
/** A stream carries a talk from here on. */
const SETTLED_MS = 500;
/** The person's last word before the next break or the end, and the answer to it that was not to come. */
const LISTENING_MS = 2_500;
/** A word of the agent where none of its lines tells how long they are. */
const WORD_MS = 380;
/** The daemon places the words of a line by an estimate, which claims too few rather than too many. */
const WORDS_LESS = 2;
const SHARE_LESS = 0.25;
/** A line and its sound end at the same time, but for the way to the ear. */
const TOGETHER_MS = 1_000;
/** The person's silence after which a turn of theirs is surely over. */
const TURN_OVER_MS = 2_500;

/** Every talk that one of the breaks found. */
export function hitsOf(talk: Talk, breaks: readonly Break[]): Hit[] {
  const { report } = talk;
  return breaks.flatMap((one, index) => {
    const next = breaks[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    return wasInTalk(report, one.atMs) ? [hitOf(talk, one, next)] : [];
  });
}

const at = (report: CallReport, ms: number) => Date.parse(report.createdAt) + ms;

function wasInTalk(report: CallReport, atMs: number): boolean {
  if (report.answeredAtMs === null) return false;
  if (report.endedAtMs !== null && at(report, report.endedAtMs) <= atMs) return false;
  return report.streams.some(
    ({ startedMs, endedMs }) =>
      startedMs !== null &&
      at(report, startedMs) + SETTLED_MS <= atMs &&
      // The carrier may have seen the connection break a moment before the break was noted.
      (endedMs === null || at(report, endedMs) + CLOCK_SLACK_MS >= atMs),
  );
}

function hitOf(talk: Talk, broken: Break, nextMs: number): Hit {
  const { report } = talk;
  const answered = report.answeredAtMs ?? 0;
  const spurts = (of: readonly Spurt[]) =>
    of.map(({ startMs, endMs }) => ({
      startMs: at(report, answered + startMs),
      endMs: at(report, answered + endMs),
    }));
  const agent = spurts(report.conversation?.agentSpurts ?? []);
  const person = spurts(report.conversation?.calleeSpurts ?? []);
  const carried = report.streams.find(
    ({ startedMs }) =>
      startedMs !== null && at(report, startedMs) > broken.atMs && at(report, startedMs) < nextMs,
  );
  const startedMs = carried?.startedMs ?? null;
  const back = startedMs === null ? null : at(report, startedMs);
  const heard = back === null ? undefined : agent.find((one) => one.startMs >= back && one.startMs < nextMs);
  const left =
    report.endedBy === 'callee' && report.endedAtMs !== null && at(report, report.endedAtMs) < nextMs;
  // Whoever is listened to is not spoken to.
  const untilMs = Math.min(nextMs, report.endedAtMs === null ? nextMs : at(report, report.endedAtMs));
  const isListening =
    back !== null && person.some((one) => one.startMs < untilMs && one.endMs > untilMs - LISTENING_MS);
  const goesOn = heard !== undefined || isListening;
  const spokeUntil = person
    .filter((one) => heard !== undefined && one.startMs < heard.startMs)
    .reduce((latest, one) => Math.max(latest, Math.min(one.endMs, heard?.startMs ?? 0)), broken.backMs);
  return {
    sid: report.sid,
    break: broken,
    outcome: goesOn ? 'gone_on' : left ? 'left' : 'lost',
    why: goesOn || left ? '' : whyLost(report, back),
    gapMs: back === null ? null : Math.round(back - broken.atMs),
    silenceMs: heard === undefined ? null : Math.round(heard.startMs - spokeUntil),
    ...wordsLost(talk, broken.atMs, agent, person),
  };
}

function whyLost(report: CallReport, back: number | null): string {
  const how = `${report.endedWhy ?? 'still live'} (by ${report.endedBy ?? 'nobody'})`;
  return back === null ? `no other stream; ${how}` : `another stream, and the agent was not heard; ${how}`;
}

/** What was spoken aloud long enough before the break, and is not written down. */
function wordsLost(
  { report, transcript }: Talk,
  atMs: number,
  agent: readonly Spurt[],
  person: readonly Spurt[],
): Pick<Hit, 'agentWordsLost' | 'turnsLost'> {
  const began = report.streams[0]?.startedMs ?? null;
  if (transcript === null || began === null) return { agentWordsLost: 0, turnsLost: 0 };
  const from = at(report, began);
  const lines = (role: string) =>
    transcript
      .filter((line) => line.role === role)
      .map((line) => ({
        ...line,
        startMs: from + line.start_ms,
        endMs: from + (line.end_ms ?? line.start_ms),
      }));
  const due = atMs - WRITTEN_MS - CLOCK_SLACK_MS;
  // What an earlier break found is not this one's.
  const carriedFrom = report.streams.reduce(
    (latest, { startedMs }) =>
      startedMs !== null && at(report, startedMs) <= atMs ? Math.max(latest, at(report, startedMs)) : latest,
    from,
  );
  const said = lines('agent');
  const whole = said.filter((line) => line.heard_text === line.text && line.endMs > line.startMs);
  const words = whole.reduce((sum, { text }) => sum + wordsIn(text), 0);
  const wordMs =
    words === 0 ? WORD_MS : whole.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0) / words;
  // The stretch that was heard last, and the lines that it is of: the next may be there before the one that is heard has ended.
  const last = agent.findLast((one) => one.startMs < due && one.startMs >= carriedFrom);
  const lastUntil = Math.min(last?.endMs ?? due, due);
  const of = said.filter(
    (one) =>
      one.startMs < due &&
      one.startMs >= carriedFrom &&
      (one.end_ms === null || one.endMs + TOGETHER_MS > lastUntil),
  );
  const fromMs = of[0]?.startMs ?? last?.startMs ?? due;
  const aloudMs = agent.reduce(
    (sum, one) => sum + Math.max(0, Math.min(one.endMs, due) - Math.max(one.startMs, fromMs)),
    0,
  );
  const aloud = aloudMs / wordMs;
  const written = of.reduce((sum, { heard_text }) => sum + wordsIn(heard_text), 0);
  const lostWords = Math.floor(aloud * (1 - SHARE_LESS)) - WORDS_LESS - written;
  const turns = lines('caller');
  const lost = person.filter(
    (one) =>
      one.startMs > carriedFrom &&
      one.endMs + TURN_OVER_MS < atMs &&
      !turns.some(
        (line) => line.startMs < one.endMs + CLOCK_SLACK_MS && line.endMs + CLOCK_SLACK_MS > one.startMs,
      ),
  );
  return { agentWordsLost: Math.max(0, lostWords), turnsLost: lost.length };
}

const wordsIn = (text: string) => text.split(/\s+/).filter((word) => word !== '').length;
