// Parts of the live view that other pages show too: that it is interrupted, and the button that ends a call.
import { html } from 'htm/preact';
import { api } from '../api.ts';
import { nameOfSide, otherSide } from '../call-words.ts';
import { reconnect, stream } from '../live-stream.ts';
import type { LiveCall } from '../session-shapes.ts';
import { Button } from '../ui/button.ts';
import { confirm } from '../ui/dialog.ts';
import { Note } from '../ui/feedback.ts';
import { nowMs } from '../ui/now.ts';
import { toast } from '../ui/toast.ts';

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
