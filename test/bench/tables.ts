// PURE. The bench's figures as tables: for the terminal and as Markdown.
import type { Campaign, LargestResult } from './campaign.ts';
import type { Figures } from './round.ts';
import type { SubjectName } from './subject.ts';

export const TITLES: Record<SubjectName, string> = {
  daemon: 'Offhook',
  'daemon-joined': 'Offhook, media through the public port',
  'daemon-recording': 'Offhook, recording',
  json: 'bare ws bridge (JSON both ways)',
  agents: 'OpenAI Agents SDK, Twilio transport',
};

/** One subject's medians over its rounds. */
export interface Row {
  name: SubjectName;
  title: string;
  rounds: number;
  /** Of them, disturbed by other work on the machine; left out where others were not. */
  disturbed: number;
  cpuUs: number;
  /** To the JSON bridge and to the Agents SDK: medians of the ratios of the same rounds. */
  toJson: number;
  toAgents: number;
  memoryKb: number;
  uplink: [p50: number, p99: number, max: number];
  uplinkOldestP99: number;
  firstAudio: [p50: number, p99: number, max: number];
  latenessP99: number;
  reaction: [p50: number, p99: number];
  lost: number;
  loopDelayP99Ms: number;
  threads: { name: string; cpuUs: number }[];
}

function middle(values: readonly number[]): number {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  const at = sorted.length >> 1;
  if (sorted.length === 0) return Number.NaN;
  return sorted.length % 2 === 1 ? sorted[at]! : (sorted[at - 1]! + sorted[at]!) / 2;
}

/** Ratios of one subject to another, round by round. */
function ratios(of: readonly Figures[], to: readonly Figures[] | undefined): number {
  const pairs = of.flatMap((figures, index) => {
    const other = to?.[index];
    if (other === undefined) return [];
    return [{ ratio: figures.cpuUs / other.cpuUs, quiet: !figures.disturbed && !other.disturbed }];
  });
  const quiet = pairs.filter((pair) => pair.quiet);
  return middle((quiet.length > 0 ? quiet : pairs).map(({ ratio }) => ratio));
}

/** The rounds that nothing else on the machine disturbed; all of them when it was never quiet. */
function quietRounds(rounds: readonly Figures[]): readonly Figures[] {
  const quiet = rounds.filter((figures) => !figures.disturbed);
  return quiet.length > 0 ? quiet : rounds;
}

export function rowsOf(campaign: Campaign): Row[] {
  const { compared } = campaign;
  return (Object.keys(TITLES) as SubjectName[]).flatMap((name) => {
    const all = compared[name];
    if (all === undefined || all.length === 0) return [];
    const rounds = quietRounds(all);
    const of = (pick: (figures: Figures) => number) => middle(rounds.map(pick));
    const names = [...new Set(rounds.flatMap((figures) => figures.threads.map((thread) => thread.name)))];
    return [
      {
        name,
        title: TITLES[name],
        rounds: all.length,
        disturbed: all.filter((figures) => figures.disturbed).length,
        cpuUs: of((figures) => figures.cpuUs),
        toJson: ratios(all, compared.json),
        toAgents: ratios(all, compared.agents),
        memoryKb: of((figures) => figures.memoryBytes / 1024),
        uplink: [of((f) => f.uplink.p50), of((f) => f.uplink.p99), of((f) => f.uplink.max)],
        uplinkOldestP99: of((f) => f.uplinkOldest.p99),
        firstAudio: [of((f) => f.firstAudio.p50), of((f) => f.firstAudio.p99), of((f) => f.firstAudio.max)],
        latenessP99: of((f) => f.lateness.p99),
        reaction: name.startsWith('daemon')
          ? [of((f) => f.audibleReaction.p50), of((f) => f.audibleReaction.p99)]
          : [of((f) => f.reaction.p50), of((f) => f.reaction.p99)],
        lost: all.reduce((sum, f) => sum + f.lostFrames + f.shortAnswers, 0),
        loopDelayP99Ms: of((f) => f.loopDelayP99Ms),
        threads: names.map((thread) => ({
          name: thread,
          cpuUs: of((f) =>
            f.threads.filter((one) => one.name === thread).reduce((sum, one) => sum + one.cpuUs, 0),
          ),
        })),
      },
    ];
  });
}

export const whole = (value: number) => (Number.isNaN(value) ? '–' : Math.round(value).toLocaleString('en'));
export const fixed = (value: number, digits = 1) => (Number.isNaN(value) ? '–' : value.toFixed(digits));

export const HEAD = [
  '',
  'CPU µs per call-second',
  'to bare bridge',
  'to Agents SDK',
  'memory per call',
  'to the model p50 / p99 / max ms',
  'first audio p50 / p99 / max ms',
  'gap in an answer p99 ms',
  'barge-in p50 / p99 ms',
  'lost',
  'loop delay p99 ms',
  'rounds (disturbed)',
];

export function tableOf(rows: readonly Row[]): string[][] {
  return rows.map((row) => [
    row.title,
    whole(row.cpuUs),
    fixed(row.toJson, 2),
    fixed(row.toAgents, 2),
    `${whole(row.memoryKb)} kB`,
    row.uplink.map((value) => fixed(value)).join(' / '),
    row.firstAudio.map((value) => fixed(value)).join(' / '),
    fixed(row.latenessP99),
    row.reaction.map((value) => whole(value)).join(' / '),
    String(row.lost),
    fixed(row.loopDelayP99Ms),
    `${row.rounds} (${row.disturbed})`,
  ]);
}

export function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Columns for a terminal: the title on its own line would hide the comparison, so columns become rows. */
export function terminal(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const columns = [head, ...rows];
  const widths = columns.map((column) => Math.max(...column.map((cell) => cell.length)));
  return head
    .map((_, line) =>
      columns
        .map((column, at) =>
          at === 0 ? (column[line] ?? '').padEnd(widths[at]!) : (column[line] ?? '').padStart(widths[at]!),
        )
        .join('  '),
    )
    .join('\n');
}

export function largestText(result: LargestResult | undefined): string {
  if (result === undefined) return '–';
  const why = result.steps.filter((step) => !step.carried).at(-1)?.why;
  if (result.disturbed)
    return result.calls === 0
      ? 'not measured: other work disturbed the load'
      : `${result.calls} or more (then the load could not be kept up)`;
  return `${result.calls}${result.open ? ' or more' : ''}${why && !result.open ? ` (then: ${why})` : ''}`;
}

export interface Target {
  text: string;
  value: string;
  /** Null: could not be measured here. */
  met: boolean | null;
}

export interface CostByCalls {
  calls: number;
  cpuUs: number;
  /** The bare bridge at as many calls; NaN where it was not measured. */
  jsonUs: number;
  uplinkP99: number;
  firstAudioP99: number;
  loopDelayP99Ms: number;
}

/** What a call costs the daemon by how many there are, the fewest first. */
export function costByCalls(campaign: Campaign): CostByCalls[] {
  const { compared, scaling, largest } = campaign;
  const carried = (name: SubjectName) =>
    largest[name]?.steps.filter((step) => step.carried).map((step) => step.figures) ?? [];
  const all = (name: SubjectName) => [
    ...scaling.filter((one) => one.subject === name),
    ...quietRounds(compared[name] ?? []),
    ...carried(name).filter((one) => one.calls !== campaign.options.calls),
  ];
  const counts = [...new Set(all('daemon').map((one) => one.calls))].sort((a, b) => a - b);
  return counts.map((calls) => {
    const of = (name: SubjectName, pick: (figures: Figures) => number) =>
      middle(
        all(name)
          .filter((one) => one.calls === calls)
          .map(pick),
      );
    return {
      calls,
      cpuUs: of('daemon', (one) => one.cpuUs),
      jsonUs: of('json', (one) => one.cpuUs),
      uplinkP99: of('daemon', (one) => one.uplink.p99),
      firstAudioP99: of('daemon', (one) => one.firstAudio.p99),
      loopDelayP99Ms: of('daemon', (one) => one.loopDelayP99Ms),
    };
  });
}

/** Bytes that a call more takes: what the process grew by from the ladder's first step to its last. */
function memoryOfOneMore(campaign: Campaign): number {
  const steps =
    campaign.largest.daemon?.steps.filter((step) => step.carried).map((step) => step.figures) ?? [];
  const [first] = steps;
  const last = steps.at(-1);
  if (first === undefined || last === undefined || first.calls === last.calls)
    return middle((campaign.compared.daemon ?? []).map((one) => one.memoryBytes));
  return (last.memoryBytes * last.calls - first.memoryBytes * first.calls) / (last.calls - first.calls);
}

/** The targets, each with what this run says. */
export function targetsOf(campaign: Campaign): Target[] {
  const rows = rowsOf(campaign);
  const daemon = rows.find((row) => row.name === 'daemon');
  const judge = (text: string, value: number, shown: string, ok: (value: number) => boolean): Target => ({
    text,
    value: Number.isNaN(value) ? 'not measured' : shown,
    met: Number.isNaN(value) ? null : ok(value),
  });
  const nan = Number.NaN;
  const figures = campaign.compared.daemon ?? [];
  const top = campaign.largest.daemon?.steps.filter((step) => step.carried).at(-1)?.figures;
  const own = costByCalls(campaign);
  const least = own[0];
  const most = own.at(-1);
  const flat = least && most && most !== least ? least.cpuUs / most.cpuUs : nan;
  const memory = memoryOfOneMore(campaign) / 1024;
  const greeting = middle(figures.map((one) => one.greetingOwnMs));
  const turn = daemon ? daemon.uplink[0] + daemon.firstAudio[0] : nan;
  return [
    judge(
      'CPU at most 1.15x the bare bridge',
      daemon?.toJson ?? nan,
      `${fixed(daemon?.toJson ?? nan, 2)}x`,
      (v) => v <= 1.15,
    ),
    judge(
      'CPU at most 0.7x the Agents SDK transport',
      daemon?.toAgents ?? nan,
      `${fixed(daemon?.toAgents ?? nan, 2)}x`,
      (v) => v <= 0.7,
    ),
    judge('memory under 1 MB for each call more', memory, `${whole(memory)} kB`, (v) => v < 1024),
    judge('nothing lost', daemon?.lost ?? nan, String(daemon?.lost), (v) => v === 0),
    judge(
      'added latency p99 under 20 ms at the largest number of calls',
      top ? Math.max(top.uplink.p99, top.firstAudio.p99) : nan,
      top
        ? `${fixed(top.uplink.p99)} ms to the model, ${fixed(top.firstAudio.p99)} ms back, at ${top.calls} calls`
        : '',
      (v) => v < 20,
    ),
    judge(
      "media threads' loop delay p99 under 10 ms there",
      top?.loopDelayP99Ms ?? nan,
      top ? `${fixed(top.loopDelayP99Ms)} ms` : '',
      (v) => v < 10,
    ),
    judge(
      'cost per call within 15 % from few calls to the most',
      flat,
      least && most
        ? `${whole(least.cpuUs)} µs at ${least.calls} (bare bridge ${whole(least.jsonUs)}), ${whole(most.cpuUs)} µs at ${most.calls} (${whole(most.jsonUs)})`
        : '',
      (v) => v <= 1.15 && v >= 0.85,
    ),
    judge(
      'answer to first audio, own share p50 under 30 ms',
      greeting,
      `${fixed(greeting)} ms`,
      (v) => v < 30,
    ),
    judge(
      'end of turn to first carrier frame, own share p50 under 30 ms',
      turn,
      `${fixed(turn)} ms`,
      (v) => v < 30,
    ),
  ];
}
