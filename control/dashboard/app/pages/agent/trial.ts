// What a trial call tells of itself: how loud both sides are, how it stands, why it ended.
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Call } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import type { BrowserCallState } from '../../browser-call.ts';
import { causeInWords, isOver } from '../../call-words.ts';

/** A microphone below this for so long is as good as none. */
const QUIET = 0.005;
const QUIET_MS = 6_000;
const ENDING_LOOK_MS = 500;
const ENDING_LOOKS = 40;

/** The bars follow the sound without drawing the page anew. */
export function useMeters() {
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
export function endInWords(call: Call | null): string {
  if (call === null) return 'The call has ended';
  if (call.status === 'failed') return 'The call failed';
  if (call.hangup_cause === 'agent_ended') return 'The agent ended the call';
  return call.hangup_cause === null ? 'The call has ended' : causeInWords(call.hangup_cause);
}

/** The record of a call that was ended by the other side, once it says why; null until then. */
export function useEnding(callId: string | null, wanted: boolean): Call | null {
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
export function stateInWords(state: BrowserCallState | null, ending: Call | null = null): string {
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
