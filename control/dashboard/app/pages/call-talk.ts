// The talk of a call at a glance: who spoke when, what sounds over the agent's voice did to it, answers that nobody heard, and when
// there was no line; as a picture, and as a table that says the same.
import { html } from 'htm/preact';
import type { CallGap, CallTurns, Transcript } from '../../../sdk/index.ts';
import { clock } from '../format.ts';
import { interruptedWords } from '../interruptions.ts';
import { type Stretch, type TalkMoment, talkLanes, talkMoments } from '../talk-moments.ts';
import { Section } from '../ui/page.ts';
import { Placed } from '../ui/placed.ts';
import { Badge, type Tone } from '../ui/status.ts';
import { Table } from '../ui/table.ts';

const KINDS: Record<TalkMoment['kind'], { label: string; tone: Tone; about: string }> = {
  stopped: { label: 'Interrupted', tone: 'bad', about: 'the agent stopped and listened' },
  passed: { label: 'Let pass', tone: 'idle', about: 'a cough, an "mhm", an echo: the agent went on' },
  thrown: {
    label: 'Thrown away',
    tone: 'warn',
    about: 'answers begun in a pause of the other side, which went on: nobody heard them',
  },
  gap: { label: 'Line lost', tone: 'warn', about: 'neither side heard the other' },
};
const HELD = [
  {
    is: 'lowered',
    label: 'Voice lowered',
    about: 'heard more quietly, while it was not clear what the sound was',
  },
  { is: 'paused', label: 'Voice paused', about: 'silent, because the sound lasted' },
] as const;

type Seek = ((ms: number) => void) | undefined;

/** @param recordedMs the length of the recording, where there is one: the lanes stand below its waves then */
export function TalkSection(props: {
  turns: CallTurns;
  transcript: Transcript;
  gaps: readonly CallGap[];
  /** The call has ended. */
  over: boolean;
  recordedMs: number;
  seek?: Seek;
}) {
  const { turns, transcript, gaps, over, seek } = props;
  const { data, interruptions } = turns;
  const moments = talkMoments({ turns: data, interruptions, words: transcript.data, gaps, over });
  const lastMs = Math.max(
    0,
    ...transcript.data.map(({ start_ms, end_ms }) => end_ms ?? start_ms + 1_000),
    ...moments.map(({ untilMs }) => untilMs),
  );
  if (lastMs === 0) return null;
  const lengthMs = Math.max(lastMs, props.recordedMs);
  const lanes = talkLanes({ words: transcript.data, moments, gaps, lengthMs });
  const kinds = Object.entries(KINDS).filter(([kind]) => moments.some((one) => one.kind === kind));
  const held = HELD.filter(({ is }) => lanes.agent.some((one) => one.is === is));
  return html`<${Section} title="Who spoke when" lead=${interruptedWords(interruptions) || undefined}>
    <div class="talk" aria-hidden="true">
      <${Lane} name="Other side" side="caller" stretches=${lanes.caller} />
      <${Lane} name="Agent" side="agent" stretches=${lanes.agent} />
      ${lanes.marks.length === 0 ? null : html`<${Lane} name="" side="marks" stretches=${lanes.marks} />`}
      <div class="talk-scale digits small"><span>${clock(0)}</span><span>${clock(lengthMs)}</span></div>
    </div>
    ${
      kinds.length + held.length === 0
        ? null
        : html`<p class="legend" aria-hidden="true">
            ${held.map(({ is, label, about }) => html`<span key=${is} title=${about}><i class=${`swatch talk-${is}`}></i>${label}</span>`)}
            ${kinds.map(([kind, { label, about }]) => html`<span key=${kind} title=${about}><i class=${`swatch talk-${kind}`}></i>${label}</span>`)}
          </p>`
    }
    ${moments.length === 0 ? null : html`<${Moments} moments=${moments} seek=${seek} />`}
  <//>`;
}

function Lane(props: { name: string; side: string; stretches: readonly Stretch[] }) {
  return html`<span class=${`talk-name small ${props.side}`}>${props.name}</span>
    <span class=${`talk-lane ${props.side}`}>
      ${props.stretches.map(
        ({ key, is, left, width, title }) =>
          html`<${Placed} key=${key} class=${`talk-${is}`} left=${left} width=${width} title=${title} />`,
      )}
    </span>`;
}

function Moments(props: { moments: readonly TalkMoment[]; seek?: Seek }) {
  const { seek } = props;
  return html`<${Table}
    caption="Sounds over the agent's voice, answers that nobody heard, and times without a line"
    dense
    rows=${props.moments}
    rowKey=${({ id }: TalkMoment) => id}
    columns=${[
      {
        label: 'At',
        cell: ({ atMs }: TalkMoment) =>
          seek === undefined
            ? html`<span class="digits">${clock(atMs)}</span>`
            : html`<button class="line-time digits" aria-label=${`Play from ${clock(atMs)}`} onClick=${() => seek(Math.max(0, atMs - 1000))}>
                ${clock(atMs)}
              </button>`,
      },
      {
        label: 'What it was',
        cell: ({ kind }: TalkMoment) =>
          html`<span title=${KINDS[kind].about}><${Badge} tone=${KINDS[kind].tone}>${KINDS[kind].label}<//></span>`,
      },
      { label: 'What happened', cell: ({ what }: TalkMoment) => what },
      {
        label: 'Said',
        grow: true,
        cell: ({ said }: TalkMoment) => (said === null ? html`<span class="dim">–</span>` : `“${said}”`),
      },
    ]}
  />`;
}
