// The campaign of lost streams: the connections that carry the talks break, each at a moment of its own, and every talk has to go
// on at the last heard word. What was heard of it is lost-streams.ts.
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallReport } from '../carrier-simulator/report.ts';
import { openClips } from '../simulate/clips.ts';
import { type ModelSession, spokenItems } from '../simulate/evidence.ts';
import type { Clip } from '../simulate/scenarios.ts';
import { RATE_HZ, readWav } from '../simulate/sound.ts';
import { quantile } from '../soak/verdict.ts';
import type { Aftermath, Breaker, BreaksReport } from './breaks.ts';
import { spread } from './hits.ts';
import type { Check } from './judge.ts';
import {
  type HeardLine,
  type LostStream,
  lostStreams,
  personWordsLost,
  type Said,
  type Seam,
  type Spoken,
  seamOf,
} from './lost-streams.ts';

/** Each stream breaks within this, at a moment of its own. */
const SPREAD_MS = 3_000;
/** So many break without a word to the daemon: the carrier alone notices. */
const UNTOLD = 0.3;
/** Nobody waits longer before he says "hello?"; the way through a carrier's hooks and back is in it. */
const MOST_SILENCE_MS = 1_000;
const SHARE = 0.95;
/** The one check of bare time: it says something on a quiet machine. */
export const HEARD_AGAIN = `agent heard again within ${MOST_SILENCE_MS} ms`;
/** The stream's error, which the campaign makes. */
const BROKEN_CODE = 31921;

/** @param streams how many are lost in all */
export function streamBreaker(streams: number): Breaker {
  let left = streams;
  return {
    listens: true,
    kills: false,
    // As fast as a real carrier, and its sound whole: what is missing is the break's.
    network: { profile: 'typical', lossRate: 0, dtxChance: 0, stallsPerMinute: 0, earLatencyMs: [0, 0] },
    async once(lab, random) {
      const atMs = Date.now();
      const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
      const live = calls
        .filter(({ streams }) => {
          const last = streams.at(-1);
          return last !== undefined && last.startedMs !== null && last.endedMs === null;
        })
        .slice(0, left);
      left -= live.length;
      await Promise.all(
        live.map(async ({ sid }) => {
          const fault = random.chance(UNTOLD) ? 'stream_half_open' : 'stream_abort';
          await pause(random.next() * SPREAD_MS);
          await lab.ask('carrier', '/faults', { do: fault, callSid: sid });
        }),
      );
      // What a call that has ended meanwhile was to suffer is nobody's.
      await pause(500);
      await lab.ask('carrier', '/faults', undefined, 'DELETE');
      return { atMs, backMs: atMs };
    },
    look: lookAtSeams,
  };
}

interface Looked {
  lost: LostStream;
  seam: Seam | null;
}

function lookAtSeams(after: Aftermath): Pick<BreaksReport, 'rows' | 'checks'> {
  const sentences = sentencesOf(after.sessions);
  const { byFile } = openClips(null, '');
  const clips = new Map(Object.values(byFile).map((clip): [string, Clip] => [clip.file, clip]));
  const looked: Looked[] = [];
  const person = { said: 0, intoGaps: 0, lost: [] as string[] };
  const faults: string[] = after.logErrors.slice(0, 20).map((line) => line.slice(0, 300));
  for (const { report, transcript } of after.talks) {
    const lost = lostStreams(report);
    const lines = (transcript ?? []) as readonly HeardLine[];
    const said = saidBy(report, after.people.scriptOf(report), clips);
    const heard = phoneOf(report);
    for (const [i, one] of lost.entries()) {
      const untilMs = lost[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY;
      const streamMs = (report.streams[0]?.startedMs ?? 0) - (report.answeredAtMs ?? 0);
      const spoke = said.map(({ startMs, endMs }) => ({ startMs, endMs }));
      const seam =
        heard === null ? null : seamOf(one, { heard, sentences, lines, streamMs, person: spoke, untilMs });
      looked.push({ lost: one, seam });
    }
    const endMs = (report.endedAtMs ?? Number.POSITIVE_INFINITY) - (report.answeredAtMs ?? 0);
    const agent = report.conversation?.agentSpurts ?? [];
    const words = personWordsLost({ said, gaps: lost, lines, agent, endMs });
    person.said += words.said;
    person.intoGaps += words.intoGaps;
    if (words.lost.length > 0) person.lost.push(`${nameOf(after, report.sid)}: "${words.lost.join(' ')}"`);
    faults.push(...faultsOf(after, report, lost));
  }
  return told(after, looked, person, faults);
}

/** What a phone heard, from the answer on. */
function phoneOf({ recordingPath }: CallReport): Float32Array | null {
  if (recordingPath === null) return null;
  try {
    return readWav(readFileSync(recordingPath)).channels[1] ?? null;
  } catch {
    return null;
  }
}

/** Each sentence of the model once, as it sounds. */
function sentencesOf(sessions: readonly ModelSession[]): Spoken[] {
  const found = new Map<string, Float32Array>();
  for (const session of sessions) {
    const fresh = spokenItems(session).filter(
      ({ say, cutMs }) => say !== '' && cutMs === null && !found.has(say),
    );
    if (fresh.length === 0 || session.sent_wav === null) continue;
    const sent = readWav(readFileSync(session.sent_wav)).channels[0];
    if (sent === undefined) continue;
    for (const { say, fromMs, ms } of fresh) {
      const from = Math.round((fromMs * RATE_HZ) / 1000);
      const samples = sent.slice(from, from + Math.round((ms * RATE_HZ) / 1000));
      if (samples.length > 0) found.set(say, samples);
    }
  }
  return [...found].map(([text, samples]) => ({ text, samples }));
}

function saidBy(
  report: CallReport,
  files: readonly (string | null)[],
  clips: ReadonlyMap<string, Clip>,
): Said[] {
  return report.steps.flatMap(({ startedMs, endedMs }, i) => {
    const clip = clips.get(files[i] ?? '');
    if (clip === undefined || startedMs === null) return [];
    return [{ clip, startMs: startedMs, endMs: endedMs ?? Number.POSITIVE_INFINITY }];
  });
}

const nameOf = (after: Aftermath, sid: string) => `${sid} (${after.rows.get(sid)?.id ?? 'no row'})`;

/** What went wrong on a call, beside what was broken on purpose. */
function faultsOf(after: Aftermath, report: CallReport, lost: readonly LostStream[]): string[] {
  const row = after.rows.get(report.sid);
  const name = nameOf(after, report.sid);
  const wentOn = lost.filter(({ outcome }) => outcome === 'gone_on').length;
  const gaps = row?.gaps.filter(({ why }) => why === 'stream_lost') ?? [];
  const closed = gaps.filter(({ to_ms }) => to_ms !== null).length;
  const own = report.errors.filter(({ code }) => code !== BROKEN_CODE);
  return [
    ...report.violations.map(
      ({ code, message }) => `${name}: the phone network complains: ${code} ${message}`,
    ),
    ...own.map(({ code, message }) => `${name}: the phone network's error ${code} ${message}`),
    row?.error_code == null ? [] : `${name}: ended with ${row.error_code}`,
    closed === wentOn
      ? []
      : `${name}: ${wentOn} lost streams were followed by another, and ${closed} gaps are told`,
  ].flat();
}

/** Each gap of a row is in the metrics once, with how it ended. */
function gapsCounted({ metrics, rows }: Aftermath): Check {
  const gaps = [...rows.values()].flatMap((row) => row.gaps).filter(({ why }) => why === 'stream_lost');
  const violations = (['resumed', 'call_ended'] as const).flatMap((ended) => {
    const told = gaps.filter(({ to_ms }) => (to_ms === null) === (ended === 'call_ended')).length;
    const line = `offhook_call_gaps_total{why="stream_lost",ended="${ended}"} `;
    const counted = Number(metrics.split(line)[1]?.split('\n')[0] ?? 0);
    return counted === told ? [] : [`${counted} are counted as ${ended}, and the calls tell of ${told}`];
  });
  return { name: 'gaps counted in the metrics', value: gaps.length, violations };
}

function told(
  after: Aftermath,
  looked: readonly Looked[],
  person: { said: number; intoGaps: number; lost: readonly string[] },
  faults: readonly string[],
): Pick<BreaksReport, 'rows' | 'checks'> {
  const of = (outcome: LostStream['outcome']) => looked.filter(({ lost }) => lost.outcome === outcome);
  const [went, left, gone] = [of('gone_on'), of('left'), of('lost')];
  const could = went.length + gone.length;
  const share = could === 0 ? 0 : (100 * went.length) / could;
  const streamless = went.flatMap(({ lost }) => (lost.toMs === null ? [] : [lost.toMs - lost.fromMs]));
  const seams = looked.flatMap(({ lost, seam }) => (seam === null ? [] : [{ ...seam, lost }]));
  const onward = seams.filter(({ became }) => became === 'went_on');
  const became = (how: Seam['became']) => seams.filter((one) => one.became === how).length;
  const silences = onward.flatMap(({ silentMs }) => (silentMs === null ? [] : [silentMs]));
  const wordsLost = seams.filter((one) => one.wordsLost > 0);
  const untrue = seams.filter((one) => one.untrue !== null);
  const name = ({ lost }: { lost: LostStream }) =>
    `${nameOf(after, lost.sid)}, ${(lost.fromMs / 1000).toFixed(2)} s after the answer`;
  const late = quantile(silences, SHARE);
  return {
    rows: [
      ['streams lost', String(looked.length)],
      ['gone on', `${went.length}, ${share.toFixed(1)} % (${left.length} hung up before)`],
      ['no stream for', spread(streamless)],
      [
        'into the agent’s voice',
        `${seams.length}: went on ${onward.length}, stopped ${became('stopped')}, not to be told ${became('unknown')}`,
      ],
      ['silence there', spread(silences)],
      ['heard twice there', spread(onward.map(({ againMs }) => againMs))],
      ['words of the person into a gap', `${person.intoGaps} beside ${person.said} that were carried`],
    ],
    checks: [
      {
        name: 'talks that went on',
        value: `${went.length} of ${could}`,
        violations: could === 0 ? ['no stream was lost'] : gone.map((one) => `${name(one)}: no other stream`),
      },
      {
        name: HEARD_AGAIN,
        value: Number.isNaN(late) ? 'nothing to measure' : `p95 ${Math.round(late)} ms`,
        violations: late > MOST_SILENCE_MS ? [`p95 is ${Math.round(late)} ms`] : [],
      },
      {
        name: 'words of the agent lost',
        value: wordsLost.reduce((sum, one) => sum + one.wordsLost, 0),
        violations: wordsLost.map(
          (one) => `${name(one)}: ${one.wordsLost} words, ${one.lostMs} ms of speech`,
        ),
      },
      {
        name: 'words of the person lost outside a gap',
        value: person.lost.length === 0 ? 0 : `on ${person.lost.length} calls`,
        violations: [...person.lost],
      },
      {
        name: 'heard text that is not true',
        value: untrue.length,
        violations: untrue.map((one) => `${name(one)}: ${one.untrue}`),
      },
      gapsCounted(after),
      { name: 'faults', value: faults.length, violations: [...faults] },
    ],
  };
}
