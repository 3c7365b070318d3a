// What a campaign tells of the talks that its breaks found: how many went on, how soon, and what of their words is lost.
import { quantile } from '../soak/verdict.ts';
import type { Aftermath, BreaksReport } from './breaks.ts';
import { type Hit, hitsOf } from './going-on.ts';

export interface Bounds {
  /** What the talks' rows tell the gap to be. */
  why: string;
  /** 95 of 100 breaks are over by then. */
  mostBackMs: number;
  /** From then on, nobody hears nothing for longer. */
  mostSilenceMs: number;
}

/** Figures and faults of breaks after which each talk has to have another stream. */
export function lookAtHits(
  after: Aftermath,
  { why, mostBackMs, mostSilenceMs }: Bounds,
): Pick<BreaksReport, 'rows' | 'checks'> {
  const hits = after.talks.flatMap((talk) => hitsOf(talk, after.breaks));
  const of = (outcome: Hit['outcome']) => hits.filter((hit) => hit.outcome === outcome);
  const [went, left, lost] = [of('gone_on'), of('left'), of('lost')];
  const backAfter = after.breaks.map(({ atMs, backMs }) => backMs - atMs);
  const silences = went.flatMap(({ silenceMs }) => (silenceMs === null ? [] : [silenceMs]));
  const gaps = went.flatMap(({ gapMs }) => (gapMs === null ? [] : [gapMs]));
  const share = went.length + lost.length === 0 ? 0 : (100 * went.length) / (went.length + lost.length);
  const number = (hit: Hit) => after.breaks.indexOf(hit.break) + 1;
  const name = (hit: Hit) => `${hit.sid} (${after.rows.get(hit.sid)?.id ?? 'no row'}), break ${number(hit)}`;
  return {
    rows: [
      ['talks hit', `${hits.length} by ${after.breaks.length} breaks`],
      ['gone on', `${went.length}, ${share.toFixed(1)} % (${left.length} hung up before)`],
      ['taken up again after', spread(backAfter)],
      ['no stream for', spread(gaps)],
      ['silence from then on, or from the person’s last word', spread(silences)],
    ],
    checks: [
      {
        name: 'talks that went on',
        value: `${went.length} of ${went.length + lost.length}`,
        violations:
          hits.length === 0
            ? ['no talk was hit at all']
            : lost.map((hit) => `${name(hit)}: ${hit.why}${rowOf(after, hit)}`),
      },
      {
        name: `taken up again within ${mostBackMs} ms`,
        value: `p95 ${Math.round(quantile(backAfter, 0.95))} ms`,
        violations:
          quantile(backAfter, 0.95) <= mostBackMs
            ? []
            : [`p95 is ${Math.round(quantile(backAfter, 0.95))} ms`],
      },
      {
        name: `heard again within ${mostSilenceMs} ms`,
        value: `p95 ${Math.round(quantile(silences, 0.95))} ms`,
        violations: went
          .filter(({ silenceMs }) => (silenceMs ?? 0) > mostSilenceMs)
          .map((hit) => `${name(hit)}: ${hit.silenceMs} ms`),
      },
      {
        name: 'words of the agent lost that were heard 0.3 s before',
        value: hits.reduce((sum, { agentWordsLost }) => sum + agentWordsLost, 0),
        violations: hits
          .filter(({ agentWordsLost }) => agentWordsLost > 0)
          .map((hit) => `${name(hit)}: ${hit.agentWordsLost} or more are not in the transcript`),
      },
      {
        name: 'turns of the person lost that were over before',
        value: hits.reduce((sum, { turnsLost }) => sum + turnsLost, 0),
        violations: hits
          .filter(({ turnsLost }) => turnsLost > 0)
          .map((hit) => `${name(hit)}: ${hit.turnsLost} are not in the transcript`),
      },
      gapsTold(after, went, why),
    ],
  };
}

/** Each talk that went on tells of it. */
function gapsTold(after: Aftermath, went: readonly Hit[], why: string) {
  const bySid = Map.groupBy(went, ({ sid }) => sid);
  const violations = [...bySid].flatMap(([sid, hits]) => {
    const told = after.rows.get(sid)?.gaps.filter((gap) => gap.why === why && gap.to_ms !== null) ?? [];
    return told.length >= hits.length
      ? []
      : [
          `${sid} (${after.rows.get(sid)?.id ?? 'no row'}) went on ${hits.length} times and tells of ${told.length}`,
        ];
  });
  return { name: 'gaps told', value: went.length, violations };
}

function rowOf(after: Aftermath, hit: Hit): string {
  const row = after.rows.get(hit.sid);
  return row === undefined
    ? ''
    : ` [${row.status}, ${row.hangup_cause ?? 'no cause'}, ${row.error_code ?? 'no error'}]`;
}

export function spread(values: readonly number[]): string {
  if (values.length === 0) return 'nothing to measure';
  const at = (share: number) => Math.round(quantile(values, share));
  return `p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, most ${at(1)} ms`;
}
