// <Dial><Number>: a second leg is called, bridged with the first, and reported. One number at a time.
import { NO_SETTINGS, type ProgressEvent } from './call-settings.ts';
import type { CallView } from './call-view.ts';
import { isE164 } from './form.ts';
import type { EarSource, Leg, SaidListener } from './leg.ts';
import { SILENCE } from './mulaw.ts';
import { clipOf, toneSamples } from './sound.ts';
import type { Verb } from './twiml.ts';
import type { World } from './world.ts';

type Dial = Extract<Verb, { verb: 'Dial' }>;

const EVENTS: ProgressEvent[] = ['initiated', 'ringing', 'answered', 'completed'];
const RINGBACK = clipOf('ringback', toneSamples([440, 480], 2000, -19));
/** Two seconds of tone, four of silence. */
const RINGBACK_TICKS = 300;

/** Resolves with the parameters for Dial's action, when the other leg has ended or could not be reached. */
export async function dialNumber(
  world: World,
  parent: CallView,
  dial: Dial,
  base: string,
  signal: AbortSignal,
): Promise<Record<string, string>> {
  const noun = dial.numbers[0];
  if (dial.numbers.length > 1) parent.fail(12200, 'Dial: only the first Number is modelled');
  if (!noun || !isE164(noun.number)) {
    parent.fail(13223, `Dial: invalid phone number ${noun?.number ?? ''}`);
    return { DialCallStatus: 'failed' };
  }
  const callee = world.calleeOf(noun.number);
  const statusCallback = noun.statusCallback && URL.canParse(noun.statusCallback, base || undefined);
  const child = world.newCall({
    direction: 'outbound-dial',
    to: noun.number,
    from: dial.callerId || parent.options.from,
    parentSid: parent.sid,
    callee,
    settings: {
      ...NO_SETTINGS,
      ringSeconds: dial.timeoutSeconds,
      limitSeconds: dial.timeLimitSeconds,
      statusCallback: statusCallback ? new URL(noun.statusCallback, base || undefined).href : '',
      statusCallbackMethod: noun.statusCallbackMethod,
      statusCallbackEvents: EVENTS.filter((event) => noun.statusCallbackEvents.includes(event)),
    },
  });
  const abandon = () => {
    child.end({
      status: child.answeredAt === null ? 'canceled' : 'completed',
      by: 'carrier',
      why: 'Dial ended',
    });
  };
  signal.addEventListener('abort', abandon);
  let unbridge = () => {};
  const ringing = ringback();
  try {
    await child.prepare();
    if (!signal.aborted) child.dial(0);
    if (parent.leg) parent.leg.source = ringing;
    const bridged = (await child.answered) && (await whisper(child, noun, base)) && !signal.aborted;
    if (bridged) {
      // answerOnBridge: the caller heard ringing until now.
      parent.answer();
      if (parent.leg && child.leg) unbridge = bridge(parent.leg, child.leg);
      world.events.emit('call.bridged', parent.sid, { childSid: child.sid });
    }
    const ending = await child.ended;
    const status = child.answeredAt === null ? ending.status : 'completed';
    return {
      DialCallStatus: status,
      DialCallSid: child.sid,
      DialCallDuration: String(child.durationSeconds() ?? 0),
      DialBridged: String(bridged),
    };
  } finally {
    signal.removeEventListener('abort', abandon);
    unbridge();
    if (parent.leg?.source === ringing) parent.leg.source = null;
  }
}

async function whisper(child: CallView, noun: Dial['numbers'][number], base: string): Promise<boolean> {
  if (!noun.url) return true;
  const url = URL.canParse(noun.url, base || undefined)
    ? new URL(noun.url, base || undefined).href
    : noun.url;
  return child.whisper(url, noun.method);
}

function ringback(): EarSource {
  let tick = 0;
  return { pull: () => RINGBACK.frames[tick++ % RINGBACK_TICKS]?.mulaw ?? null };
}

/** Each hears what the other said in the tick before. Answers how to part them. */
function bridge(one: Leg, other: Leg): () => void {
  const part = [
    [one, other],
    [other, one],
  ].map(([ear, mouth]) => {
    let last: Buffer = SILENCE;
    const listener: SaidListener = (frame) => {
      last = frame.mulaw;
    };
    mouth!.said.add(listener);
    const source: EarSource = { pull: () => last };
    ear!.source = source;
    return () => {
      mouth!.said.delete(listener);
      if (ear!.source === source) ear!.source = null;
    };
  });
  return () => {
    for (const undo of part) undo();
  };
}
