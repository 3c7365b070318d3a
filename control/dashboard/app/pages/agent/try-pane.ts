// Trying an agent beside its editor: a call like any other, by microphone or by typing, with the words of both sides as they
// come. It is led by what stands in the editor, saved or not. The line itself is browser-call.ts.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { NewAgent } from '../../../../sdk/index.ts';
import { type BrowserCall, type BrowserCallState, startBrowserCall } from '../../browser-call.ts';
import { BrowserCallError } from '../../call-line.ts';
import { causeInWords } from '../../call-words.ts';
import { sentence } from '../../format.ts';
import { ask } from '../../session.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote, Note } from '../../ui/feedback.ts';
import { Field } from '../../ui/field.ts';
import { useAction } from '../../ui/load.ts';
import { guardLeaving } from '../../ui/router.ts';
import { Badge } from '../../ui/status.ts';
import { announce } from '../../ui/toast.ts';
import { Duration } from '../../ui/values.ts';
import { TranscriptView } from '../call-transcript.ts';
import { useFollowedWords } from '../followed-words.ts';
import { ContextEditor, type ContextText, emptyContext, readContext } from './context-editor.ts';
import { endInWords, stateInWords, useEnding, useMeters } from './trial.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];

export interface TryProps {
  /** Null: it is not created yet. */
  agentId: string | null;
  /** What to try in place of what is saved; null: nothing has been changed. */
  draft: NewAgent | null;
  /** Asked before a call: marks what is wrong in the editor and answers whether nothing is. */
  check: () => boolean;
  /** The daemon refused the draft. */
  onRefused: (error: unknown) => void;
  hasResult: boolean;
}

/** One call after the other, of whatever is to be tried by then. */
function useTrial(props: TryProps, context: Record<string, unknown>) {
  const [state, setState] = useState<BrowserCallState | null>(null);
  const [spoken, setSpoken] = useState(true);
  const [callId, setCallId] = useState<string | null>(null);
  const [since, setSince] = useState<string | null>(null);
  const [muted, setMuted] = useState(false);
  const [unmended, setUnmended] = useState(false);
  /** The draft that the call is led by, as it was then. */
  const [tried, setTried] = useState('');
  const line = useRef<BrowserCall | null>(null);
  const gone = useRef(false);
  const meters = useMeters();
  const { agentId, draft } = props;
  const over = state?.at === 'ended';

  const start = useAction(async (microphone: boolean) => {
    setUnmended(false);
    if (draft !== null && !props.check()) return setUnmended(true);
    setSpoken(microphone);
    setMuted(false);
    setCallId(null);
    setSince(null);
    setTried(JSON.stringify(draft));
    try {
      const call = await startBrowserCall({
        microphone,
        async open() {
          const opened = await ask<{ call_id: string; stream_path: string; token: string }>(
            'POST',
            'browser_calls',
            {
              ...(agentId === null ? {} : { agent_id: agentId }),
              ...(draft === null ? {} : { draft }),
              ...(microphone ? {} : { text_only: true }),
              ...(Object.keys(context).length > 0 ? { context } : {}),
            },
          );
          setCallId(opened.call_id);
          return opened;
        },
        onState(next) {
          setState(next);
          announce(stateInWords(next));
          if (next.at === 'talking') setSince((before) => before ?? new Date().toISOString());
          if (next.at === 'ended') line.current = null;
        },
        onLevel: meters.level,
      });
      if (gone.current) return await call.hangUp();
      line.current = call;
      meters.start();
    } catch (error) {
      setState(null);
      if (draft !== null) props.onRefused(error);
      throw error;
    }
  });
  // Also of a call that was over before its sound was connected.
  const ending = useEnding(callId, over ? state.why !== 'hung_up' : start.error instanceof BrowserCallError);
  useEffect(() => {
    if (ending !== null) announce(endInWords(ending));
  }, [ending]);
  const hangUp = useAction(async () => line.current?.hangUp());
  useEffect(
    () => () => {
      gone.current = true;
      void line.current?.hangUp();
    },
    [],
  );
  return {
    state,
    over,
    talking: state?.at === 'talking',
    busy: state !== null && !over,
    spoken,
    callId,
    since,
    muted,
    unmended,
    /** The editor says something else by now. */
    outdated: callId !== null && tried !== JSON.stringify(draft),
    line,
    meters,
    start,
    hangUp,
    ending,
    mute() {
      line.current?.mute(!muted);
      setMuted(!muted);
    },
  };
}

type Trial = ReturnType<typeof useTrial>;

/** While the call is on. */
function OnTheLine(props: { trial: Trial }) {
  const { trial } = props;
  const { talking, spoken, muted, meters, line } = trial;
  return html`<div class="meters">
      ${spoken ? html`<div><span class="small">You${muted ? ' (muted)' : ''}</span><span class="meter you" aria-hidden="true"><span ref=${meters.microphone}></span></span></div>` : null}
      <div><span class="small">Agent</span><span class="meter" aria-hidden="true"><span ref=${meters.agent}></span></span></div>
    </div>
    ${talking && spoken && !muted && meters.quiet ? html`<p class="small" role="status">Nothing is heard from your microphone. Is it the right one, and switched on?</p>` : null}
    <div class="row">
      ${spoken ? html`<${Button} icon="try" pressed=${muted} disabled=${!talking} onClick=${trial.mute}>${muted ? 'Muted' : 'Mute'}<//>` : null}
      <${Button} kind="danger" icon="hangup" busy=${trial.hangUp.busy} disabled=${!talking} onClick=${() => trial.hangUp.run()}>Hang up<//>
    </div>
    <details>
      <summary class="small">Keys of the phone</summary>
      <div class="keypad" role="group" aria-label="Keys of the phone">
        ${KEYS.map((key) => html`<button key=${key} type="button" class="button" disabled=${!talking} onClick=${() => line.current?.press(key)}>${key}</button>`)}
      </div>
    </details>`;
}

/** What went wrong, where something did. */
function Trouble(props: { trial: Trial }) {
  const { state, over, busy, talking, ending, start, hangUp, unmended } = props.trial;
  const problem = talking && state?.at === 'talking' ? state.problem : null;
  return html`
    ${unmended ? html`<div role="alert"><${Note} kind="warn" title="Not tried yet."><p>What is marked in the editor needs mending first.</p><//></div>` : null}
    ${over && state?.at === 'ended' && state.message !== null && ending?.status !== 'failed' ? html`<${Note} kind="warn" title="The call was cut off."><p>${state.message}</p><//>` : null}
    ${
      ending?.status === 'failed' && !busy
        ? html`<div role="alert"><${Note} kind="warn" title=${`${causeInWords(ending.error_code ?? ending.hangup_cause ?? 'failed')}.`}>
            <p>${sentence(ending.error_message ?? 'the record of the call says more')}</p>
          <//></div>`
        : null
    }
    ${problem === null ? null : html`<div role="alert"><${Note} kind="warn"><p>${problem}</p><//></div>`}
    ${
      ending?.status === 'failed'
        ? null
        : start.error instanceof BrowserCallError
          ? html`<div role="alert"><${Note} kind="warn" title="The call did not start."><p>${start.error.message}</p><//></div>`
          : html`<${ErrorNote} error=${start.error} title="The call did not start." />`
    }
    <${ErrorNote} error=${hangUp.error} title="The call may still be on." />`;
}

/** Typing to the agent, once there is a call. */
function Say(props: { trial: Trial; form: { current: HTMLFormElement | null } }) {
  const [text, setText] = useState('');
  const { line, spoken } = props.trial;
  const send = (event: Event) => {
    event.preventDefault();
    if (text.trim() === '' || line.current === null) return;
    line.current.type(text.trim());
    setText('');
  };
  return html`<form class="say" onSubmit=${send} ref=${props.form}>
    <${Field} label="Type to the agent" hideLabel value=${text} maxLength=${2000} placeholder=${spoken ? 'Type instead of speaking' : 'Type what you would say'} onInput=${setText} />
    <${Button} type="submit" kind=${spoken ? 'plain' : 'primary'} disabled=${text.trim() === ''}>Say it<//>
  </form>`;
}

const MICROPHONE_ERRORS = ['insecure_page', 'permission_denied', 'no_microphone', 'microphone_busy'];

/** The pane. A call in it goes on while the editor is worked at. */
export function TryPane(props: TryProps) {
  const [context, setContext] = useState<ContextText>(emptyContext);
  const read = readContext(context);
  const contextFault = 'fault' in read ? read.fault : null;
  const trial = useTrial(props, 'value' in read ? read.value : {});
  const { state, over, talking, busy, spoken, callId, since, start, ending } = trial;
  const { items, gaps } = useFollowedWords(callId, over);
  useEffect(() => {
    if (!busy) return;
    return guardLeaving(() =>
      confirm({
        title: 'Hang up and leave?',
        text: 'You are on a call with the agent; leaving the page ends it.',
        action: 'Hang up',
        danger: true,
        run: async () => trial.line.current?.hangUp(),
      }),
    );
  }, [busy]);
  const input = useRef<HTMLFormElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The button that was pressed is gone: the reader goes on where the call is told of, or types.
    if (talking && !spoken) input.current?.querySelector('input')?.focus();
    else if (talking || over) status.current?.focus({ preventScroll: true });
  }, [talking, over]);
  const noMicrophone =
    start.error instanceof BrowserCallError && MICROPHONE_ERRORS.includes(start.error.code);
  return html`<section class="card try" aria-label="Try it">
    <header class="section-head">
      <h2>Try it</h2>
      <p class="row" tabindex="-1" ref=${status}>
        <${Badge} tone=${talking ? 'ok' : busy ? 'info' : ending?.status === 'failed' ? 'bad' : 'idle'}>${stateInWords(state, ending)}<//>
        ${talking && since !== null ? html`<${Duration} since=${since} />` : null}
      </p>
    </header>
    <${Trouble} trial=${trial} />
    ${
      busy
        ? html`<${OnTheLine} trial=${trial} />`
        : html`<div class="row try-start">
            <${Button} needs="operate" kind=${noMicrophone ? 'plain' : 'primary'} icon="try" disabled=${contextFault !== null} onClick=${() => start.run(true)}>${over ? 'Call again' : 'Start the call'}<//>
            <${Button} needs="operate" kind=${noMicrophone ? 'primary' : 'plain'} disabled=${contextFault !== null} onClick=${() => start.run(false)}>Type instead of speaking<//>
          </div>`
    }
    ${trial.outdated ? html`<p class="small try-note" role="status">${busy ? 'The call goes on as it began: what you have changed since counts from the next one.' : 'Changed since: call again to hear it.'}</p>` : null}
    ${
      callId === null
        ? html`<${EmptyState} icon="try" title="Nobody is on the line">
            ${props.draft === null ? 'Talk to the agent here, without a phone and without a number.' : 'Talk to the agent as it stands in the editor now. Nothing needs to be saved first.'}
          <//>`
        : html`<${TranscriptView} items=${items} gaps=${gaps} live=${!over} current=${-1} playing=${false} />`
    }
    ${talking ? html`<${Say} trial=${trial} form=${input} />` : null}
    ${
      (over || ending !== null) && callId !== null
        ? html`<p class="small"><a href=${`/calls/${callId}`}>See this call</a><span class="dim">: recording, turns, ${props.hasResult ? 'result, ' : ''}what it cost.</span></p>`
        : null
    }
    ${
      busy
        ? null
        : html`<details class="try-facts">
            <summary class="small">Facts for this call</summary>
            <${ContextEditor} value=${context} error=${contextFault} onChange=${setContext} />
          </details>
          <p class="help">A call like any other: it stands under Calls, uses the speech model, and its tools really run. Your
            browser asks for the microphone first; a headset keeps the agent from hearing itself.</p>`
    }
  </section>`;
}
