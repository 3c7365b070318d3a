// One call: what it was, its sound and words, its turns, result, cost, events. A live call changes while one looks at it.
import { useComputed } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Call, CallEvents, CallTurns, Transcript } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { gapSentence } from '../call-gaps.ts';
import { callTitle, disclosureInWords, isOver, outcomeOf } from '../call-words.ts';
import { onLive, stream } from '../live-stream.ts';
import type { PageProps } from '../route-match.ts';
import { ask, may } from '../session.ts';
import { lineAt } from '../spoken.ts';
import { CopyButton } from '../ui/button.ts';
import { ErrorNote, Loaded, Note, Skeleton } from '../ui/feedback.ts';
import { type Load, useLoad } from '../ui/load.ts';
import { Page, Section } from '../ui/page.ts';
import { Badge, toneOf } from '../ui/status.ts';
import { Duration, Money, Phone, Time } from '../ui/values.ts';
import { CallAudio, openPlayer, type Player } from './call-audio.ts';
import { TimelineSection } from './call-events.ts';
import { CostSection, ResultSection, SentSection } from './call-parts.ts';
import { TalkSection } from './call-talk.ts';
import { TranscriptView } from './call-transcript.ts';
import { TurnsSection } from './call-turns.ts';
import { ErasedCall, KeptSection } from './kept/erase-call.ts';
import { HangUp, StreamNotice } from './live-parts.ts';

const NO_LINES: Transcript['data'] = [];
const BACK = { href: '/calls', label: 'Calls' };
/** After the end: result, cost, last words and webhooks come one after the other. */
const SETTLING_MS = [1_000, 3_000, 6_000, 12_000, 25_000, 45_000, 65_000];

export function CallPage(props: PageProps) {
  const id = props.params.id ?? '';
  const call = useLoad((signal) => api.calls.get(id, { signal }), [id]);
  const transcript = useLoad((signal) => api.calls.transcript(id, { signal }), [id]);
  const turns = useLoad((signal) => api.calls.turns(id, { signal }), [id]);
  const events = useLoad((signal) => api.calls.events(id, { signal }), [id]);
  const reloadAll = () => {
    for (const one of [call, transcript, turns, events]) one.reload();
  };
  useLiveUpdates(id, { call, transcript, turns, events }, reloadAll);
  if (call.data === undefined) {
    return html`<${Page} title="Call" back=${BACK}>
      ${call.error === null ? html`<div class="stack" aria-busy="true"><span class="sr-only">Loading</span><${Skeleton} height="card" /><${Skeleton} height="chart" /><${Skeleton} lines=${6} /></div>` : html`<${ErrorNote} error=${call.error} title="The call could not be shown." retry=${call.reload} />`}
    <//>`;
  }
  return html`<${CallView} key=${id} call=${call.data} transcript=${transcript} turns=${turns} events=${events} error=${call.error} />`;
}

interface Loads {
  call: Load<Call>;
  transcript: Load<Transcript>;
  turns: Load<CallTurns>;
  events: Load<CallEvents>;
}

/** Keeps the page current: by the stream while the call lasts, then by a few looks until all of it is settled. */
function useLiveUpdates(id: string, loads: Loads, reloadAll: () => void): void {
  const { call, transcript, turns, events } = loads;
  useEffect(
    () =>
      onLive((event) => {
        if (event.type === 'words' && event.data.call_id === id) {
          const { item } = event.data;
          transcript.change((now) => {
            const data = [...now.data.filter((one) => one.id !== item.id), item];
            return { ...now, data: data.sort((a, b) => a.start_ms - b.start_ms) };
          });
        }
        if (event.type === 'turn' && event.data.call_id === id) {
          const { turn } = event.data;
          turns.change((now) => {
            const data = [...now.data.filter((one) => one.id !== turn.id), turn];
            return { ...now, data: data.sort((a, b) => a.index - b.index) };
          });
        }
        if (event.type === 'interruption' && event.data.call_id === id) {
          const { interruption } = event.data;
          turns.change((now) => ({
            ...now,
            interruptions: [...now.interruptions.filter((one) => one.id !== interruption.id), interruption],
          }));
        }
        if (event.type === 'call' && event.data.id === id) {
          if (event.data.status !== call.data?.status) {
            call.reload();
            events.reload();
          } else {
            const { gaps } = event.data;
            call.change((now) => ({ ...now, gaps }));
          }
        }
        if (event.type === 'ended' && event.data.call.id === id) reloadAll();
        // After a gap in the stream nobody knows what was missed.
        if (event.type === 'snapshot' && call.data !== undefined && !isOver(call.data)) reloadAll();
      }),
    [id, call.data],
  );
  const settled =
    call.data !== undefined &&
    isOver(call.data) &&
    call.data.result_status !== 'pending' &&
    transcript.data?.status !== 'live' &&
    events.data?.data.every((event) => event.deliveries.every((one) => one.status !== 'pending')) !== false;
  const endedRecently = call.data?.ended_at != null && Date.now() - Date.parse(call.data.ended_at) < 120_000;
  const looks =
    call.data !== undefined && isOver(call.data) && (!settled || call.data.cost === null) && endedRecently;
  useEffect(() => {
    if (!looks) return;
    const timers = SETTLING_MS.map((ms) => setTimeout(reloadAll, ms));
    return () => {
      for (const timer of timers) clearTimeout(timer);
    };
  }, [id, looks]);
}

function CallView(props: Omit<Loads, 'call'> & { call: Call; error: unknown }) {
  const { call } = props;
  if (call.erased_at !== null) return html`<${ErasedCall} call=${call} back=${BACK} />`;
  const over = isOver(call);
  const outcome = outcomeOf(call);
  const heading = html`<span class="call-heading"
    ><span>${callTitle(call)}</span>
    <span title=${outcome.code}><${Badge} tone=${toneOf(call.status)}>${outcome.words}<//></span></span
  >`;
  return html`<${Page}
    title=${callTitle(call)}
    heading=${heading}
    back=${BACK}
    actions=${over ? null : html`<${HangUp} call=${call} />`}
  >
    <${ErrorNote} error=${props.error} title="The call could not be read anew." />
    ${over || stream.value.state !== 'lost' ? null : html`<${StreamNotice} />`}
    ${
      call.error_message === null
        ? null
        : html`<${Note} kind="warn" title=${call.status === 'failed' ? 'The call failed.' : 'Something went wrong on this call.'}>
            <p>${call.error_message}</p>
            ${call.error_code === null ? null : html`<p class="dim small">Code <code>${call.error_code}</code></p>`}
          <//>`
    }
    <${FactLine} call=${call} />
    <${ResultSection} call=${call} />
    <${Gaps} call=${call} />
    <div class="with-aside">
      <div><${Sound} call=${call} transcript=${props.transcript} turns=${props.turns} events=${props.events} /></div>
      <div>
        <${CostSection} call=${call} />
        <${SentSection} call=${call} />
        <${KeptSection} call=${call} />
      </div>
    </div>
  <//>`;
}

/** Where its sound broke off, and that it went on. */
function Gaps(props: { call: Call }) {
  const { gaps } = props.call;
  if (gaps.length === 0) return null;
  const over = isOver(props.call);
  return html`<${Note} kind=${gaps.at(-1)?.to_ms === null ? 'warn' : 'info'} title="The sound of this call was interrupted.">
    ${gaps.map((gap) => html`<p key=${gap.from_ms}>${gapSentence(gap, over)}</p>`)}
  <//>`;
}

/** Who, when and how long, in one line; the other side stands in the heading. */
function FactLine(props: { call: Call }) {
  const { call } = props;
  const agent = useLoad(
    async (signal) => (call.agent_id === null ? null : api.agents.get(call.agent_id, { signal })),
    [call.agent_id],
  );
  const disclosure = disclosureInWords(call);
  const facts: readonly (readonly [string, ComponentChildren] | null)[] = [
    [
      'Agent',
      call.agent_id === null
        ? html`<span class="dim">none: by a prompt</span>`
        : html`<a href=${`/agents/${call.agent_id}`}>${agent.data?.name ?? 'Agent'}</a>`,
    ],
    call.direction === 'inbound'
      ? ['To', html`<${Phone} number=${call.to_number} />`]
      : ['From', html`<${Phone} number=${call.from_number} />`],
    ['Placed', html`<${Time} iso=${call.created_at} as="exact" />`],
    [
      'Duration',
      isOver(call)
        ? html`<${Duration} ms=${call.duration_seconds === null ? null : call.duration_seconds * 1000} />`
        : html`<${Duration} since=${call.answered_at ?? call.created_at} />`,
    ],
    call.billing_amount_milli_cents === null
      ? null
      : ['Charged', html`<${Money} milliCents=${call.billing_amount_milli_cents} />`],
    ['Language', call.language],
    disclosure === null
      ? null
      : ['Disclosure', html`<span title=${call.disclosure?.text}>${disclosure}</span>`],
    call.opted_out === null
      ? null
      : [
          'Not to be called again',
          html`<span title=${call.opted_out.text}>${call.opted_out.by === 'words' ? 'Said so' : 'As the agent understood it'}</span>`,
        ],
    [
      'Id',
      html`<span class="copyable"><code title=${call.id}>${call.id.slice(0, 8)}…</code><${CopyButton} text=${call.id} label="Call id" /></span>`,
    ],
  ];
  return html`<dl class="fact-line" aria-label="Facts">
    ${facts
      .filter((fact) => fact !== null)
      .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;
}

interface RecordingFacts {
  recorded: boolean;
  bytes: number | null;
}

/** Recording, words and turns belong together: each leads to its place in the others. */
function Sound(props: {
  call: Call;
  transcript: Load<Transcript>;
  turns: Load<CallTurns>;
  events: Load<CallEvents>;
}) {
  const { call } = props;
  const over = isOver(call);
  const final = props.transcript.data?.status === 'final';
  const recording = useLoad(
    async (signal): Promise<RecordingFacts | null> =>
      over && final && call.answered_at !== null
        ? ask('GET', `recordings/${call.id}`, undefined, signal)
        : null,
    [call.id, over, final],
  );
  const recorded = recording.data?.recorded === true && may('listen');
  const player = useMemo(() => (recorded ? openPlayer(call.id) : null), [call.id, recorded]);
  useEffect(() => () => player?.close(), [player]);
  const seek = player === null ? undefined : (ms: number) => player.seek(ms, true);
  return html`
    ${
      call.answered_at === null
        ? null
        : html`<${Section} title="Recording">
            ${
              !over
                ? html`<p class="dim">It can be heard here when the call has ended, if calls are recorded.</p>`
                : html`<${Loaded} load=${recording} title="Whether there is a recording could not be read." skeleton=${html`<${Skeleton} height="card" />`}>
                    ${(facts: RecordingFacts | null) =>
                      facts === null
                        ? html`<${Skeleton} height="card" />`
                        : !may('listen')
                          ? html`<p class="dim">Your role does not hear recordings; an owner can allow it.</p>`
                          : player === null
                            ? html`<${NotRecorded} />`
                            : html`<${CallAudio} callId=${call.id} player=${player} fileBytes=${facts.bytes} />`}
                  <//>`
            }
          <//>`
    }
    ${
      props.turns.data === undefined || props.transcript.data === undefined
        ? null
        : html`<${Talk} call=${call} turns=${props.turns.data} transcript=${props.transcript.data} player=${player} seek=${seek} />`
    }
    <${Section} title="Transcript">
      <${Loaded} load=${props.transcript} title="The transcript could not be read." skeleton=${html`<${Skeleton} lines=${6} />`}>
        ${(transcript: Transcript) => html`<${FollowingTranscript} key=${player === null ? 'still' : 'played'} gaps=${call.gaps} transcript=${transcript} player=${player} seek=${seek} />`}
      <//>
    <//>
    <${Loaded} load=${props.turns} title="The turns could not be read." skeleton=${html`<${Skeleton} height="chart" />`}>
      ${(turns: CallTurns) => html`<${TurnsSection} turns=${turns} gaps=${call.gaps} over=${over} seek=${seek} />`}
    <//>
    <${Loaded} load=${props.events} title="The events could not be read.">
      ${(events: CallEvents) => html`<${TimelineSection} call=${call} events=${events} items=${props.transcript.data?.data ?? NO_LINES} reload=${props.events.reload} seek=${seek} />`}
    <//>
  `;
}

/** Only the length of the recording draws it anew, not every frame of the player. */
function Talk(props: {
  call: Call;
  turns: CallTurns;
  transcript: Transcript;
  player: Player | null;
  seek?: ((ms: number) => void) | undefined;
}) {
  const { call, turns, transcript, player, seek } = props;
  return html`<${TalkSection} turns=${turns} transcript=${transcript} gaps=${call.gaps} over=${isOver(call)} recordedMs=${player?.durationMs.value ?? 0} seek=${seek} />`;
}

function NotRecorded() {
  return html`<p class="dim">
    This call was not recorded. To record calls from now on, set <code>RECORD_CALLS=true</code> for the daemon and restart
    it; tell callers where the law asks for it.
  </p>`;
}

function FollowingTranscript(props: {
  gaps: Call['gaps'];
  transcript: Transcript;
  player: Player | null;
  seek?: ((ms: number) => void) | undefined;
}) {
  const { transcript, player } = props;
  // Only a change of line draws anew, not every frame of the player.
  const current = useComputed(() =>
    player === null || (player.positionMs.value === 0 && !player.playing.value)
      ? -1
      : lineAt(transcript.data, player.positionMs.value),
  );
  return html`<${TranscriptView}
    items=${transcript.data}
    gaps=${props.gaps}
    live=${transcript.status === 'live'}
    current=${current.value}
    playing=${player?.playing.value ?? false}
    seek=${props.seek}
  />`;
}
