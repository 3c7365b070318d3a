// Trying an agent in the browser: a call like any other, by microphone or by typing, with the words of both sides as they
// come. The line itself is browser-call.ts.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Agent, Call, CallGap, TranscriptItem } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { type BrowserCall, type BrowserCallState, startBrowserCall } from '../../browser-call.ts';
import { BrowserCallError } from '../../call-line.ts';
import { causeInWords, isOver } from '../../call-words.ts';
import { sentence } from '../../format.ts';
import { merged } from '../../live-state.ts';
import { onLive, stream } from '../../live-stream.ts';
import type { PageProps } from '../../route-match.ts';
import { ask } from '../../session.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { EmptyState, ErrorNote, Loaded, Note, Skeleton } from '../../ui/feedback.ts';
import { Field } from '../../ui/field.ts';
import { useAction, useLoad } from '../../ui/load.ts';
import { Page, Section } from '../../ui/page.ts';
import { guardLeaving } from '../../ui/router.ts';
import { Badge } from '../../ui/status.ts';
import { announce } from '../../ui/toast.ts';
import { Duration } from '../../ui/values.ts';
import { TranscriptView } from '../call-transcript.ts';
import { ContextEditor, type ContextText, emptyContext, readContext } from './context-editor.ts';

const KEYS = ['1', '2', '3', '4', '5', '6', '7', '8', '9', '*', '0', '#'];
/** A microphone below this for so long is as good as none. */
const QUIET = 0.005;
const QUIET_MS = 6_000;
const LOOK_MS = 2_000;
const ENDING_LOOK_MS = 500;
const ENDING_LOOKS = 40;

interface Words {
  items: readonly TranscriptItem[];
  gaps: readonly CallGap[];
}

/**
 * The words of a call as they come, and where it had no sound: by the live stream, by asking while that is lost, and once more
 * at the end.
 */
function useWords(callId: string | null, over: boolean): Words {
  const [items, setItems] = useState<readonly TranscriptItem[]>([]);
  const [gaps, setGaps] = useState<readonly CallGap[]>([]);
  const add = (news: readonly TranscriptItem[]) => setItems((known) => merged(known, news));
  const lost = stream.value.state !== 'open';
  useEffect(() => {
    setItems([]);
    setGaps([]);
  }, [callId]);
  useEffect(() => {
    if (callId === null) return;
    return onLive((event) => {
      if (event.type === 'words' && event.data.call_id === callId) add([event.data.item]);
      else if (event.type === 'call' && event.data.id === callId) {
        add(event.data.words);
        setGaps(event.data.gaps);
      } else if (event.type === 'snapshot')
        add(event.data.calls.find((call) => call.id === callId)?.words ?? []);
    });
  }, [callId]);
  useEffect(() => {
    if (callId === null) return;
    let left = false;
    const look = () =>
      void api.calls.transcript(callId).then(
        ({ data }) => {
          if (!left) add(data);
        },
        // The stream or the next look brings them.
        () => {},
      );
    look();
    // The last words are written down a moment after the end; while the stream is lost, asking stands in for it.
    const timer = over || lost ? setInterval(look, LOOK_MS) : undefined;
    const enough = over ? setTimeout(() => clearInterval(timer), 4 * LOOK_MS) : undefined;
    return () => {
      left = true;
      clearInterval(timer);
      clearTimeout(enough);
    };
  }, [callId, over, lost]);
  return { items, gaps };
}

/** The bars follow the sound without drawing the page anew. */
function useMeters() {
  const microphone = useRef<HTMLSpanElement>(null);
  const agent = useRef<HTMLSpanElement>(null);
  const [quiet, setQuiet] = useState(false);
  const heardAt = useRef(0);
  const show = (bar: HTMLSpanElement | null, level: number) =>
    bar?.style.setProperty('inline-size', `${Math.min(100, Math.round(Math.sqrt(level) * 100))}%`);
  return {
    microphone,
    agent,
    quiet,
    start() {
      heardAt.current = performance.now();
      setQuiet(false);
    },
    level(level: { microphone: number; agent: number }) {
      show(microphone.current, level.microphone);
      show(agent.current, level.agent);
      const now = performance.now();
      if (level.microphone > QUIET) heardAt.current = now;
      setQuiet(now - heardAt.current > QUIET_MS);
    },
  };
}

/** An agent that says goodbye and a model that is away both close the line: only the record tells them apart. */
function endInWords(call: Call | null): string {
  if (call === null) return 'The call has ended';
  if (call.status === 'failed') return 'The call failed';
  if (call.hangup_cause === 'agent_ended') return 'The agent ended the call';
  return call.hangup_cause === null ? 'The call has ended' : causeInWords(call.hangup_cause);
}

/** The record of a call that was ended by the other side, once it says why; null until then. */
function useEnding(callId: string | null, wanted: boolean): Call | null {
  const [call, setCall] = useState<Call | null>(null);
  useEffect(() => {
    setCall(null);
    if (callId === null || !wanted) return;
    const stop = new AbortController();
    const look = async () => {
      for (let looks = 0; looks < ENDING_LOOKS && !stop.signal.aborted; looks++) {
        // A look that fails is made again; without any, the page says that it ended and no more.
        const found = await api.calls.get(callId, { signal: stop.signal }).catch(() => null);
        if (stop.signal.aborted) return;
        if (found !== null && isOver(found)) {
          setCall(found);
          return;
        }
        await new Promise((later) => setTimeout(later, ENDING_LOOK_MS));
      }
    };
    void look();
    return () => stop.abort();
  }, [callId, wanted]);
  return call;
}

/** `ending`: the call's record, where the other side ended it. */
function stateInWords(state: BrowserCallState | null, ending: Call | null = null): string {
  switch (state?.at) {
    case undefined:
      return ending === null ? 'Not connected' : endInWords(ending);
    case 'asking':
      return 'Allow the microphone in your browser';
    case 'connecting':
      return 'Connecting';
    case 'talking':
      return 'On the line';
    case 'ended':
      return state.why === 'hung_up'
        ? 'You hung up'
        : state.why === 'other_side'
          ? endInWords(ending)
          : state.why === 'lost'
            ? 'The connection broke'
            : ending === null
              ? 'Not connected'
              : endInWords(ending);
  }
}

function Talk(props: { agent: Agent }) {
  const { agent } = props;
  const [state, setState] = useState<BrowserCallState | null>(null);
  const [spoken, setSpoken] = useState(true);
  const [callId, setCallId] = useState<string | null>(null);
  const [since, setSince] = useState<string | null>(null);
  const [muted, setMuted] = useState(false);
  const [text, setText] = useState('');
  const [context, setContext] = useState<ContextText>(emptyContext);
  const line = useRef<BrowserCall | null>(null);
  const gone = useRef(false);
  const meters = useMeters();
  const over = state?.at === 'ended';
  const talking = state?.at === 'talking';
  const busy = state !== null && !over;
  const { items, gaps } = useWords(callId, over);
  const read = readContext(context);
  const contextFault = 'fault' in read ? read.fault : null;

  const start = useAction(async (microphone: boolean) => {
    setSpoken(microphone);
    setMuted(false);
    setCallId(null);
    setSince(null);
    try {
      const call = await startBrowserCall({
        microphone,
        async open() {
          const opened = await ask<{ call_id: string; stream_path: string; token: string }>(
            'POST',
            'browser_calls',
            {
              agent_id: agent.id,
              ...(microphone ? {} : { text_only: true }),
              ...('value' in read && Object.keys(read.value).length > 0 ? { context: read.value } : {}),
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
  useEffect(() => {
    if (!busy) return;
    return guardLeaving(() =>
      confirm({
        title: 'Hang up and leave?',
        text: 'You are on a call with the agent; leaving the page ends it.',
        action: 'Hang up',
        danger: true,
        run: async () => line.current?.hangUp(),
      }),
    );
  }, [busy]);
  const input = useRef<HTMLFormElement>(null);
  const status = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    // The button that was pressed is gone: the reader goes on where the call is told of, or types.
    if (talking && !spoken) input.current?.querySelector('input')?.focus();
    else if (talking || over) status.current?.focus();
  }, [talking, over]);

  const send = (event: Event) => {
    event.preventDefault();
    if (text.trim() === '' || line.current === null) return;
    line.current.type(text.trim());
    setText('');
  };
  const problem = talking ? state.problem : null;
  const noMicrophone =
    start.error instanceof BrowserCallError &&
    ['insecure_page', 'permission_denied', 'no_microphone', 'microphone_busy'].includes(start.error.code);
  return html`<div class="with-aside try">
    <div>
      <${Section} title="Conversation">
        ${
          callId === null
            ? html`<${EmptyState} icon="try" title="Nobody is on the line">
                Start the call, and what you and the agent say stands here as it is spoken.
              <//>`
            : html`<${TranscriptView} items=${items} gaps=${gaps} live=${!over} current=${-1} playing=${false} />`
        }
        ${
          talking
            ? html`<form class="say" onSubmit=${send} ref=${input}>
                <${Field} label="Type to the agent" hideLabel value=${text} maxLength=${2000} placeholder=${spoken ? 'Type instead of speaking' : 'Type what you would say'} onInput=${setText} />
                <${Button} type="submit" kind=${spoken ? 'plain' : 'primary'} disabled=${text.trim() === ''}>Say it<//>
              </form>`
            : null
        }
      <//>
    </div>
    <div>
      <${Section} title="Call">
        <p class="row" tabindex="-1" ref=${status}>
          <${Badge} tone=${talking ? 'ok' : busy ? 'info' : ending?.status === 'failed' ? 'bad' : 'idle'}>${stateInWords(state, ending)}<//>
          ${talking && since !== null ? html`<${Duration} since=${since} />` : null}
        </p>
        ${over && state.message !== null && ending?.status !== 'failed' ? html`<${Note} kind="warn" title="The call was cut off."><p>${state.message}</p><//>` : null}
        ${
          ending?.status === 'failed' && !busy
            ? html`<div role="alert"><${Note} kind="warn" title=${`${causeInWords(ending.error_code ?? ending.hangup_cause ?? 'failed')}.`}>
                <p>${sentence(ending.error_message ?? 'the record of the call says more')}</p>
              <//></div>`
            : null
        }
        ${problem === null ? null : html`<div role="alert"><${Note} kind="warn"><p>${problem}</p><//></div>`}
        ${
          busy
            ? html`
              <div class="meters">
                ${spoken ? html`<div><span class="small">You${muted ? ' (muted)' : ''}</span><span class="meter you" aria-hidden="true"><span ref=${meters.microphone}></span></span></div>` : null}
                <div><span class="small">Agent</span><span class="meter" aria-hidden="true"><span ref=${meters.agent}></span></span></div>
              </div>
              ${talking && spoken && !muted && meters.quiet ? html`<p class="small" role="status">Nothing is heard from your microphone. Is it the right one, and switched on?</p>` : null}
              <div class="row">
                ${
                  spoken
                    ? html`<${Button}
                        icon="try"
                        pressed=${muted}
                        disabled=${!talking}
                        onClick=${() => {
                          line.current?.mute(!muted);
                          setMuted(!muted);
                        }}
                        >${muted ? 'Muted' : 'Mute'}<//
                      >`
                    : null
                }
                <${Button} kind="danger" icon="hangup" busy=${hangUp.busy} disabled=${!talking} onClick=${() => hangUp.run()}>Hang up<//>
              </div>
              <details>
                <summary class="small">Keys of the phone</summary>
                <div class="keypad" role="group" aria-label="Keys of the phone">
                  ${KEYS.map((key) => html`<button key=${key} type="button" class="button" disabled=${!talking} onClick=${() => line.current?.press(key)}>${key}</button>`)}
                </div>
              </details>`
            : html`
              <div class="stack">
                <${Button} kind=${noMicrophone ? 'plain' : 'primary'} icon="try" disabled=${contextFault !== null} onClick=${() => start.run(true)}>${over ? 'Call again' : 'Start the call'}<//>
                <${Button} kind=${noMicrophone ? 'primary' : 'plain'} disabled=${contextFault !== null} onClick=${() => start.run(false)}>Type instead of speaking<//>
              </div>
              ${
                (over || ending !== null) && callId !== null
                  ? html`<p><a href=${`/calls/${callId}`}>See this call</a><span class="dim">: recording, turns, ${Object.keys(agent.returns).length > 0 ? 'result, ' : ''}what it cost.</span></p>`
                  : html`<p class="help">Your browser asks for the microphone first. Your voice goes to this daemon and on to its speech
                      model, as on the phone. A headset keeps the agent from hearing itself.</p>`
              }`
        }
        ${
          ending?.status === 'failed'
            ? null
            : start.error instanceof BrowserCallError
              ? html`<div role="alert"><${Note} kind="warn" title="The call did not start."><p>${start.error.message}</p><//></div>`
              : html`<${ErrorNote} error=${start.error} title="The call did not start." />`
        }
        <${ErrorNote} error=${hangUp.error} title="The call may still be on." />
      <//>
      ${
        busy
          ? null
          : html`<${Section} title="Before you start">
              <${ContextEditor} value=${context} error=${contextFault} onChange=${setContext} />
              <p class="help">It is a call like any other: it stands under Calls, uses the speech model, and its tools really run.
                What is not saved on the agent's page does not count yet.</p>
            <//>`
      }
    </div>
  </div>`;
}

export function TryPage(props: PageProps) {
  const id = props.params.id ?? '';
  const agent = useLoad((signal) => api.agents.get(id, { signal }), [id]);
  const name = agent.data?.name;
  return html`<${Page}
    title=${name === undefined ? 'Try it' : `Try ${name}`}
    back=${{ href: `/agents/${id}`, label: name ?? 'Agent' }}
    lead="Talk to the agent here, without a phone and without a number."
  >
    <${Loaded} load=${agent} skeleton=${html`<${Skeleton} lines=${2} height="chart" />`} title="The agent could not be loaded.">
      ${(one: Agent) =>
        one.archived_at === null
          ? html`<${Talk} agent=${one} />`
          : html`<${EmptyState} icon="agents" title="This agent is archived" action=${html`<${Button} href="/agents">See the others<//>`}>An archived agent takes no calls.<//>`}
    <//>
  <//>`;
}
