// PURE. What must hold of a simulated call whose agent has to say something first, and of one whose person wants no more calls.
import { bargeInsOf, type Evidence, streamOffsetMs } from './evidence.ts';
import { type Finding, found, seconds } from './finding.ts';

/** The daemon tells times by what the phone network confirms as played, frame by frame. */
const TOLD_APART_MS = 500;

/** The line came first, nobody could cut or lower it, and what was said over it was answered after it. */
export function saidFirst(evidence: Evidence): Finding {
  const { scenario, call, transcript, carrier, interruptions } = evidence;
  const wanted = scenario.expected.firstLine;
  if (wanted === null) return null;
  const told = call.disclosure;
  if (told === null) return found(['the call tells of no such line'], '');
  const { text, heard_text, started_ms, ended_ms, complete } = told;
  const toMs = ended_ms ?? started_ms;
  const spoken = transcript.data.filter(({ role }) => role === 'agent');
  const [line, next] = spoken;
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  const firstMs = carrier?.conversation?.firstAgentAudioMs ?? null;
  const over = bargeInsOf(evidence).filter(({ atMs }) => atMs < toMs + offsetMs);
  const held = interruptions.filter(({ at_ms, held_ms }) => (held_ms ?? at_ms) < toMs);
  return found(
    [
      text !== wanted && `it is "${text}"`,
      heard_text !== wanted && `of it was heard "${heard_text}"`,
      !complete && 'it is not told as complete',
      (line?.text !== wanted || line.heard_text !== wanted || line.interrupted) &&
        'the transcript does not begin with it, whole',
      (firstMs === null || Math.abs(firstMs - started_ms - offsetMs) > TOLD_APART_MS) &&
        'the first sound on the phone is not its',
      over.length === 0 && 'nobody spoke over it',
      held.length > 0 && 'the voice was lowered or stopped for it',
      next === undefined && 'what was said over it was not answered',
      next !== undefined && next.start_ms < toMs && 'the next line began before it was over',
    ],
    `${seconds(toMs - started_ms)}, all of its words, although the person spoke ${seconds((over[0]?.atMs ?? 0) - started_ms - offsetMs)} into it`,
  );
}

/** The wish is on the call and on the list, was confirmed to the person, and holds. */
export function notedOptOut({ scenario, call, transcript, doNotCall }: Evidence): Finding {
  const wanted = scenario.expected.optsOut;
  if (wanted === null) return null;
  const asked = transcript.data.find(({ role, text }) => role === 'caller' && wanted.test(text));
  const last = transcript.data.findLast(({ role }) => role === 'agent');
  const noted = call.opted_out;
  const entry = doNotCall?.entry ?? null;
  return found(
    [
      asked === undefined && 'the words are not in the transcript',
      noted === null && 'the call does not tell of it',
      noted !== null && noted.text !== asked?.text && `the call tells of "${noted.text}"`,
      entry === null && 'the number is not on the do-not-call list',
      entry !== null &&
        (entry.source !== 'said' || entry.call_id !== call.id || entry.item_id !== asked?.id) &&
        'its entry does not name the call and the words',
      !/not call this number again/.test(last?.heard_text ?? '') && 'the person was not told so',
      last?.heard_text !== last?.text && 'that was not heard to its end',
      doNotCall?.refused !== 'do_not_call' &&
        `another call to the number was ${doNotCall?.refused == null ? 'placed' : `refused as ${doNotCall.refused}`}`,
    ],
    `"${noted?.text}" is on the list and was confirmed; another call was refused (do_not_call)`,
  );
}
