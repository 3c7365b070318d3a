// The chosen call of the live view: how it stands, and all of its words as they come.
import { html } from 'htm/preact';
import { isGapOpen } from '../call-gaps.ts';
import { callTitle, isOver } from '../call-words.ts';
import { latency } from '../format.ts';
import { sinceOf } from '../live-table.ts';
import type { Floor as FloorHolder, LiveCall } from '../session-shapes.ts';
import { Button } from '../ui/button.ts';
import { Status } from '../ui/status.ts';
import { Duration } from '../ui/values.ts';
import { TranscriptView } from './call-transcript.ts';
import { useFollowedWords } from './followed-words.ts';
import { HangUp } from './live-parts.ts';

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

/** `over`: it has left the line since it was chosen, and is shown as it was then. */
export function LiveWords(props: { call: LiveCall; over: boolean; onClose: () => void }) {
  const { call } = props;
  const over = props.over || isOver(call);
  const { items, gaps } = useFollowedWords(call.id, over);
  return html`<article class="card live-words" aria-label=${callTitle(call)}>
    <header class="live-head">
      <div class="live-who">
        <h2><a href=${`/calls/${call.id}`}>${callTitle(call)}</a></h2>
        <p class="dim small">${call.agent_name ?? 'Without an agent'}</p>
      </div>
      ${over ? html`<${Status} value="completed" label="Over" />` : html`<${Status} value=${call.status} label=${call.status === 'in_progress' ? 'On the line' : undefined} />`}
      <span class="live-close"><${Button} small kind="quiet" icon="close" label="Close the words" onClick=${props.onClose} /></span>
    </header>
    ${
      over
        ? html`<p class="small dim">It has left the line. Its recording, result and cost are on its page.</p>`
        : html`<div class="live-figures">
            <div><span class="dim small">Duration</span><strong><${Duration} since=${sinceOf(call)} /></strong></div>
            <div><span class="dim small">Last answer after</span><strong class="digits">${latency(call.last_latency_ms)}</strong></div>
            <${Floor} floor=${call.floor} status=${call.status} lost=${isGapOpen(call)} />
          </div>`
    }
    ${
      items.length === 0
        ? html`<p class="dim live-none">${call.status === 'in_progress' ? 'Nobody has spoken yet.' : over ? 'Nothing was said.' : 'Not answered yet.'}</p>`
        : html`<${TranscriptView} items=${items} gaps=${gaps} live=${!over} current=${-1} playing=${false} />`
    }
    <footer class="live-foot">
      <${Button} small href=${`/calls/${call.id}`}>Open the call<//>
      ${over ? null : html`<${HangUp} call=${call} />`}
    </footer>
  </article>`;
}
