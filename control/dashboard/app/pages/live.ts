// Calls now: who has the floor, the words of both sides as they come, and hanging up.
import { html } from 'htm/preact';
import { Component } from 'preact';
import { api } from '../api.ts';
import { isGapOpen } from '../call-gaps.ts';
import { callTitle, nameOfSide, otherSide } from '../call-words.ts';
import { counted, latency } from '../format.ts';
import { inOrder } from '../live-state.ts';
import { liveCalls, reconnect, stream } from '../live-stream.ts';
import type { Floor as FloorHolder, LiveCall } from '../session-shapes.ts';
import { Button } from '../ui/button.ts';
import { confirm } from '../ui/dialog.ts';
import { EmptyState, Note, Skeleton } from '../ui/feedback.ts';
import { Icon } from '../ui/icon.ts';
import { nowMs } from '../ui/now.ts';
import { Page } from '../ui/page.ts';
import { Badge, Status } from '../ui/status.ts';
import { toast } from '../ui/toast.ts';
import { Duration, Phone } from '../ui/values.ts';
import { Line } from './call-transcript.ts';

/** Says so when what is shown may be old. */
export function StreamNotice() {
  const now = stream.value;
  if (now.state !== 'lost') return null;
  const seconds = Math.max(0, Math.ceil((now.retryAtMs - nowMs.value) / 1000));
  return html`<div role="status"><${Note} kind="warn" title="The live view is interrupted.">
    <p>
      What is shown may be old; the calls themselves go on.
      ${seconds > 0 ? ` Next attempt in ${seconds} s.` : ' Connecting…'}
    </p>
    <${Button} small icon="refresh" onClick=${reconnect}>Connect now<//>
  <//></div>`;
}

export function LivePage() {
  const state = liveCalls.value;
  const calls = state === undefined ? [] : inOrder(state);
  return html`<${Page}
    title="Live"
    lead=${state === undefined || calls.length === 0 ? undefined : `${counted(calls.length, 'call')} on the line now.`}
    actions=${stream.value.state === 'open' ? html`<${Badge} tone="ok">Connected<//>` : null}
  >
    <${StreamNotice} />
    ${
      state === undefined
        ? html`<div class="live-grid" aria-busy="true"><span class="sr-only">Loading</span><${Skeleton} height="chart" /><${Skeleton} height="chart" /></div>`
        : calls.length === 0
          ? html`<${EmptyState}
              icon="live"
              title="No call is on the line."
              action=${html`<${Button} href="/calls">See past calls<//>`}
            >
              A call shows up here by itself as soon as it is placed or comes in, with its words as they are spoken.
            <//>`
          : html`<ul class="live-grid">
              ${calls.map((call) => html`<${LiveItem} key=${call.id} call=${call} />`)}
            </ul>`
    }
  <//>`;
}

/** Of many calls only the one that something was told of is drawn anew: the fold keeps the others as they were. */
class LiveItem extends Component<{ call: LiveCall }> {
  override shouldComponentUpdate(next: { call: LiveCall }): boolean {
    return next.call !== this.props.call;
  }
  override render() {
    return html`<li><${LiveCard} call=${this.props.call} /></li>`;
  }
}

function LiveCard(props: { call: LiveCall }) {
  const { call } = props;
  const other = otherSide(call);
  return html`<article class="card live-card" aria-label=${callTitle(call)}>
    <header class="live-head">
      <span class="direction" title=${call.direction === 'inbound' ? 'Inbound' : 'Outbound'}>
        <${Icon} name=${call.source === 'browser' ? 'try' : call.direction} size=${16} />
        <span class="sr-only">${call.source === 'browser' ? 'From the browser' : call.direction}</span>
      </span>
      <div class="live-who">
        <h2>
          <a href=${`/calls/${call.id}`}>${call.source === 'browser' ? 'Call in the browser' : html`<${Phone} number=${other} />`}</a>
        </h2>
        <p class="dim small">${call.agent_name ?? 'Without an agent'}</p>
      </div>
      <${Status} value=${call.status} label=${call.status === 'in_progress' ? 'On the line' : undefined} />
    </header>
    <div class="live-figures">
      <div><span class="dim small">Duration</span><strong><${Duration} since=${call.answered_at ?? call.created_at} /></strong></div>
      <div><span class="dim small">Last answer after</span><strong class="digits">${latency(call.last_latency_ms)}</strong></div>
      <${Floor} floor=${call.floor} status=${call.status} lost=${isGapOpen(call)} />
    </div>
    <div class="live-words">
      ${
        call.words.length === 0
          ? html`<p class="dim">${call.status === 'in_progress' ? 'Nobody has spoken yet.' : 'Not answered yet.'}</p>`
          : html`<ol aria-label="Latest words">${call.words.map((item) => html`<li key=${item.id}><${Line} item=${item} short /></li>`)}</ol>`
      }
    </div>
    <footer class="live-foot">
      <${Button} small href=${`/calls/${call.id}`}>Open the call<//>
      <${HangUp} call=${call} />
    </footer>
  </article>`;
}

/** The two sides, the one that may speak lit. `lost`: the line carries no sound just now. */
function Floor(props: { floor: FloorHolder; status: string; lost: boolean }) {
  // Without a line nobody has it, whoever had it last.
  const floor = props.lost ? null : props.floor;
  const text =
    props.status !== 'in_progress'
      ? 'Not connected'
      : props.lost
        ? 'Line lost, waiting for it'
        : floor === 'agent'
          ? 'The agent speaks'
          : floor === 'caller'
            ? 'The other side speaks'
            : 'Nobody speaks';
  return html`<div class="floor" data-floor=${floor ?? 'nobody'}>
    <span class="floor-side caller" aria-hidden="true"><i></i><i></i><i></i></span>
    <span class="small">${text}</span>
    <span class="floor-side agent" aria-hidden="true"><i></i><i></i><i></i></span>
  </div>`;
}

/** Ends a live call, after a question. Before it is answered that is canceling it. */
export function HangUp(props: {
  call: Pick<LiveCall, 'id' | 'status' | 'direction' | 'from_number' | 'to_number'>;
}) {
  const { call } = props;
  const answered = call.status === 'in_progress';
  const ask = () =>
    confirm({
      title: answered ? 'Hang up this call?' : 'Cancel this call?',
      text: answered
        ? `The line to ${nameOfSide(otherSide(call))} is cut at once, in the middle of a word if need be.`
        : `It rings no longer at ${nameOfSide(otherSide(call))}.`,
      action: answered ? 'Hang up' : 'Cancel the call',
      danger: true,
      run: () => (answered ? api.calls.hangup(call.id) : api.calls.cancel(call.id)),
    }).then((done) => {
      if (done) toast(answered ? 'The call is being hung up.' : 'The call is being canceled.');
    });
  return html`<${Button} needs="operate" small kind="danger" icon="hangup" onClick=${ask}>${answered ? 'Hang up' : 'Cancel call'}<//>`;
}
