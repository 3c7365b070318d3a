// How the phone line does: calls, latency, failures, spend; the health of what it stands on; the first steps when it is new.
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { AgentSummary } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { causeInWords } from '../call-words.ts';
import { count, counted, duration, latency, money, moneyTick, percent } from '../format.ts';
import { liveCount, onCallsChanged } from '../live-stream.ts';
import { measured } from '../measured.ts';
import { withQuery } from '../route-match.ts';
import { ask } from '../session.ts';
import type { Health, Overview, Range } from '../session-shapes.ts';
import { Button } from '../ui/button.ts';
import { Chart } from '../ui/chart.ts';
import { EmptyState, Loaded, Skeleton } from '../ui/feedback.ts';
import { Segments } from '../ui/field.ts';
import { Icon } from '../ui/icon.ts';
import { coalesced, useLoad } from '../ui/load.ts';
import { Page, Section } from '../ui/page.ts';
import { navigate, query } from '../ui/router.ts';
import { Status } from '../ui/status.ts';
import { FiringNote } from './firing-note.ts';
import { StreamNotice } from './live-parts.ts';

const REFRESH_MS = 30_000;
/** Many calls at once are one look. */
const FRESH_MS = 2_000;
const RANGES: readonly { value: Range; label: string; words: string }[] = [
  { value: '24h', label: '24 hours', words: 'in the last 24 hours' },
  { value: '7d', label: '7 days', words: 'in the last 7 days' },
  { value: '30d', label: '30 days', words: 'in the last 30 days' },
];

export function OverviewPage() {
  const asked = query.value.get('range');
  const range = RANGES.find(({ value }) => value === asked)?.value ?? '24h';
  const overview = useLoad(
    (signal) => ask<Overview>('GET', `overview?range=${range}`, undefined, signal),
    [range],
  );
  const health = useLoad((signal) => ask<Health>('GET', 'health', undefined, signal), []);
  const setting = useLoad(readSetting, []);
  // Until there is a call, the figures are all nothing: the first steps are what one needs.
  const isNew = setting.data?.hasCall === false && liveCount.value === 0;
  useEffect(() => {
    const look = () => {
      if (document.hidden) return;
      overview.reload();
      health.reload();
    };
    const timer = setInterval(look, REFRESH_MS);
    const { tell, stop } = coalesced(() => {
      overview.reload();
      setting.reload();
    }, FRESH_MS);
    const leave = onCallsChanged(tell);
    return () => {
      clearInterval(timer);
      leave();
      stop();
    };
  }, []);
  return html`<${Page}
    title="Overview"
    actions=${html`<${Segments}
      label="Time range"
      value=${range}
      options=${RANGES}
      onChange=${(value: string) => void navigate(withQuery('/', { range: value === '24h' ? '' : value }), { replace: true, quiet: true })}
    />`}
  >
    <${StreamNotice} />
    <${FiringNote} />
    ${
      isNew
        ? html`<${FirstSteps} agent=${setting.data?.agent ?? null} hasNumber=${setting.data?.hasNumber === true} />`
        : html`<${Loaded} load=${overview} title="The figures could not be read." skeleton=${html`<${Outline} />`}>
            ${(data: Overview) => html`<${Figures} overview=${data} range=${range} />`}
          <//>`
    }
    <${Section} title="Health">
      <${Loaded} load=${health} title="The health could not be read." skeleton=${html`<${Skeleton} lines=${5} />`}>
        ${(data: Health) => html`<${HealthList} health=${data} />`}
      <//>
    <//>
  <//>`;
}

function Outline() {
  return html`<div class="stack">
    <div class="tiles">${Array.from({ length: 5 }, (_none, at) => html`<${Skeleton} key=${at} height="card" />`)}</div>
    <div class="grid-2"><${Skeleton} height="chart" /><${Skeleton} height="chart" /></div>
  </div>`;
}

function Tile(props: { label: string; value: string; note?: string; href?: string; tone?: string }) {
  const inside = html`<dt>
      ${props.href === undefined ? props.label : html`<a class="tile-link" href=${props.href}>${props.label}</a>`}
    </dt>
    <dd class="tile-value digits">${props.value}</dd>
    ${props.note === undefined ? null : html`<dd class="tile-note">${props.note}</dd>`}`;
  return html`<div class=${`tile card ${props.tone ?? ''}`}>
    ${inside}
  </div>`;
}

function Figures(props: { overview: Overview; range: Range }) {
  const { totals, completed_rate, latency: wait, failures, spend, series } = props.overview;
  const rangeWords = RANGES.find(({ value }) => value === props.range)?.words ?? '';
  const { simulated, against } = measured(props.overview.measured_against);
  const times = series.map(({ at }) => at);
  const live = liveCount.value;
  return html`
    <dl class="tiles">
      <${Tile} label="Live now" value=${count(live)} note=${live === 0 ? 'no call on the line' : 'on the line'} href="/live" />
      <${Tile} label="Calls" value=${count(totals.calls)} note=${`${count(totals.inbound)} in, ${count(totals.outbound)} out`} href="/calls" />
      <${Tile} label="Completed" value=${percent(completed_rate)} note=${classesInWords(totals)} tone=${totals.failed > 0 && totals.failed >= totals.completed ? 'bad' : undefined} />
      <${Tile}
        label=${simulated ? 'Answer latency, simulated' : 'Answer latency, median'}
        value=${latency(wait.p50_ms)}
        note=${wait.p50_ms === null ? 'nothing measured' : `${simulated ? 'median; ' : ''}95 % within ${latency(wait.p95_ms)}${against === null ? '' : `; ${against}`}`}
      />
      <${Tile} label="Spend" value=${money(spend.cost_milli_cents)} note=${spend.billed_milli_cents === 0 ? 'estimated' : `estimated; ${money(spend.billed_milli_cents)} charged`} />
    </dl>
    ${
      totals.calls === 0
        ? html`<${EmptyState} icon="overview" title=${`No calls ${rangeWords}.`}>Figures over time show up here with the first call.<//>`
        : html`<div class="grid-2">
            <div class="card">
              <${Chart}
                title="Calls"
                kind="bars"
                stacked
                times=${times}
                format=${wholeCount}
                series=${[
                  {
                    label: 'Completed',
                    colour: '--accent',
                    values: series.map(({ completed }) => completed),
                  },
                  {
                    label: 'Not reached',
                    colour: '--part-1',
                    values: series.map(({ unreached }) => unreached),
                  },
                  { label: 'Failed', colour: '--bad', values: series.map(({ failed }) => failed) },
                ]}
              />
            </div>
            <div class="card">
              <${Chart}
                title=${`From the end of speech until the answer is heard${simulated ? ', simulated' : ''}`}
                kind="line"
                times=${times}
                format=${latency}
                series=${[
                  { label: 'Median', colour: '--accent', values: series.map(({ p50_ms }) => p50_ms) },
                  { label: '95 % within', colour: '--caller', values: series.map(({ p95_ms }) => p95_ms) },
                ]}
              />
            </div>
            <div class="card">
              <${Chart}
                title="Spend, estimated"
                kind="bars"
                times=${times}
                format=${moneyTick}
                series=${[{ label: 'Spend', colour: '--caller', values: series.map(({ cost_milli_cents }) => cost_milli_cents) }]}
              />
            </div>
            <${Failures} failures=${failures} failed=${totals.failed} words=${rangeWords} talk=${totals.talk_seconds} />
          </div>`
    }
  `;
}

/** What became of the calls that have ended, each told once. */
function classesInWords({ completed, failed, unreached }: Overview['totals']): string {
  const ended = completed + failed + unreached;
  if (ended === 0) return 'none has ended';
  const rest = [
    failed === 0 ? null : `${count(failed)} failed`,
    unreached === 0 ? null : `${count(unreached)} not reached`,
  ].filter((part) => part !== null);
  return [`${count(completed)} of ${count(ended)}`, ...rest].join(', ');
}

const wholeCount = (value: number | null) => (value === null || !Number.isInteger(value) ? '' : count(value));

function Failures(props: { failures: Overview['failures']; failed: number; words: string; talk: number }) {
  const most = Math.max(1, ...props.failures.map(({ count: times }) => times));
  return html`<${Section} title="Failures" actions=${props.failed === 0 ? null : html`<${Button} small href="/calls?status=failed">Show them<//>`}>
    ${
      props.failures.length === 0
        ? html`<p class="row"><span class="ok-mark"><${Icon} name="check" /></span>No call failed ${props.words}; ${duration(props.talk * 1000)} of talk.</p>`
        : html`<ul class="reasons">
            ${props.failures.map(
              ({ reason, count: times }) => html`<li key=${reason}>
                <span>${causeInWords(reason)}</span><span class="digits">${count(times)}</span>
                <meter min="0" max=${most} value=${times} aria-label=${counted(times, 'call')}></meter>
              </li>`,
            )}
          </ul>`
    }
  <//>`;
}

const HEALTH_NAMES: Record<string, string> = {
  calls: 'Calls',
  carrier: 'Carrier',
  model: 'Speech model',
  queue: 'Webhook queue',
  disk: 'Disk',
  threads: 'Media threads',
  media_threads: 'Media threads',
};
const HEALTH_WORDS: Record<string, string> = { ok: 'Working', warn: 'Look at it', down: 'Down' };

function HealthList(props: { health: Health }) {
  return html`<ul class="health">
    ${Object.entries(props.health)
      .filter(([, one]) => typeof one === 'object' && one !== null && 'state' in one)
      .map(
        ([name, one]) => html`<li key=${name}>
          <span class="health-name">${HEALTH_NAMES[name] ?? name}</span>
          <${Status} value=${one.state} label=${HEALTH_WORDS[one.state] ?? one.state} />
          <span class="dim health-text">${one.text}</span>
        </li>`,
      )}
  </ul>`;
}

interface Setting {
  agent: AgentSummary | null;
  hasNumber: boolean;
  hasCall: boolean;
}

async function readSetting(signal: AbortSignal): Promise<Setting> {
  const [agents, numbers, calls] = await Promise.all([
    api.agents.list({ limit: 1 }, { signal }),
    api.numbers.list({ limit: 1 }, { signal }),
    api.calls.list({ limit: 1 }, { signal }),
  ]);
  return {
    agent: agents.data[0] ?? null,
    hasNumber: numbers.data.length > 0,
    hasCall: calls.data.length > 0,
  };
}

/** What a new installation still lacks, one step after the other. */
function FirstSteps(props: { agent: AgentSummary | null; hasNumber: boolean }) {
  const { agent, hasNumber: number } = props;
  const steps = [
    {
      done: agent !== null,
      title: 'Create an agent',
      text: 'Say who it is, what it does on a call, and what you want to know afterwards.',
      action: html`<${Button} small kind=${agent === null ? 'primary' : 'plain'} href="/agents/new">Create an agent<//>`,
    },
    {
      done: false,
      title: 'Hear it in the browser',
      text: 'Talk to it with your microphone: the same audio path as a phone call, and it needs no number.',
      action:
        agent === null
          ? null
          : html`<${Button} small kind=${number ? 'plain' : 'primary'} href=${`/agents/${agent.id}/try`}>Try it<//>`,
    },
    {
      done: number,
      title: 'Get a number',
      text: 'Buy one here, and attach it to the agent.',
      action: html`<${Button} small href="/numbers/buy">Find a number<//>`,
    },
    {
      done: false,
      title: 'Make the first call',
      text: number
        ? 'Call the number, or place a call with POST /v1/calls.'
        : 'Once the agent has a number, call it or have it call you.',
      action: html`<${Button} small href="/docs#createCall">How to place one<//>`,
    },
  ];
  return html`<${Section} title="First steps" lead="From here to the first call takes a few minutes.">
    <ol class="steps">
      ${steps.map(
        (step, at) => html`<li key=${step.title} class=${step.done ? 'done' : undefined}>
          <span class="step-mark">${step.done ? html`<${Icon} name="check" size=${15} /><span class="sr-only">Done</span>` : at + 1}</span>
          <div><h3>${step.title}</h3><p class="dim">${step.text}</p></div>
          ${step.done ? null : step.action}
        </li>`,
      )}
    </ol>
  <//>`;
}
