// PURE. What must hold of a simulated call whose daemon was killed: another process had it soon, the agent said that it was
// cut off and went on, and no more is lost than the last moment.
import { type Evidence, pairLines, spokenOf, streamOffsetMs, wordsOf } from './evidence.ts';
import { type Finding, found, plural } from './finding.ts';
import { silenceFrom } from './gap-checks.ts';

/**
 * From the kill to connections, and from then to the agent's first sound: about 1.5 s and 1 s on a quiet machine. Here four
 * programs start and talk beside it.
 */
const MOST_START_MS = 5_000;
const MOST_SILENCE_MS = 4_000;
/** The daemon places the words of a line by an estimate, which claims too few rather than too many. */
const WORDS_LESS = 3;
const TOLD_APART_MS = 500;

export function wentOnAfterKill(evidence: Evidence): Finding {
  const { scenario, call, carrier, killed, sessions, sounds } = evidence;
  if (!scenario.expected.killed) return null;
  if (carrier === null) return found(['the call never reached the phone network'], '');
  if (killed === null) return found(['the daemon was not killed'], '');
  const zeroMs = Date.parse(carrier.createdAt) + (carrier.answeredAtMs ?? 0);
  const killedMs = killed.atMs - zeroMs;
  const listeningMs = killed.listeningMs - zeroMs;
  const startMs = killed.listeningMs - killed.atMs;
  const silentMs = sounds.phone === null ? null : silenceFrom(sounds.phone.agent, listeningMs);
  const offsetMs = streamOffsetMs(carrier);
  const [gap, ...more] = call.gaps;
  const line = pairLines(evidence.transcript.data, spokenOf(evidence)).findLast(
    (pair) => pair.line?.interrupted === true && pair.line.start_ms + offsetMs < killedMs,
  );
  const heardMs = line?.item?.cutMs ?? 0;
  const { item } = line ?? {};
  const heardWords = item == null ? 0 : Math.floor((wordsOf(item.say).length * heardMs) / item.ms);
  const writtenWords = wordsOf(line?.line?.heard_text ?? '').length;
  const first = sessions[1]?.responses[0]?.say ?? '';
  return found(
    [
      startMs > MOST_START_MS && `it took no connections for ${startMs} ms`,
      (silentMs === null || silentMs > MOST_SILENCE_MS) &&
        `then nothing was heard for ${silentMs === null ? 'the rest of the call' : `${Math.round(silentMs)} ms`}`,
      carrier.streams.length !== 2 && `there were ${plural(carrier.streams.length, 'stream')}, not 2`,
      (gap === undefined || more.length > 0) && `the call has ${plural(call.gaps.length, 'gap')}, not 1`,
      gap !== undefined && gap.why !== 'daemon_restart' && `the daemon says it was ${gap.why}`,
      gap !== undefined &&
        Math.abs(gap.from_ms + offsetMs - killedMs) > TOLD_APART_MS &&
        `the daemon says it died ${Math.round(gap.from_ms + offsetMs - killedMs)} ms from when it did`,
      gap?.to_ms === null && 'the gap is told open',
      line?.line?.end_ms === null && 'the line that was cut is told as still being spoken',
      line === undefined && 'no line of the agent was cut there',
      line !== undefined &&
        heardWords - writtenWords > WORDS_LESS &&
        `${heardWords} words of the line were heard and ${writtenWords} are written down`,
      line !== undefined &&
        wordsOf(line.line?.heard_text ?? '').join() !== wordsOf(line.item?.believed ?? '').join() &&
        `the model was told that "${line.item?.believed}" was heard`,
      wordsOf(first).length === 0 && 'the agent said nothing of it',
    ],
    `taking connections after ${startMs} ms, the agent heard again ${Math.round(silentMs ?? 0)} ms later: "${first}"`,
  );
}
