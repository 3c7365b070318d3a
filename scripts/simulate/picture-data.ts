// PURE. What the picture of a call shows, taken from its evidence and brought to one clock: ms since the answer.
import {
  answersOf,
  bargeInsOf,
  type CallObject,
  type Evidence,
  pairLines,
  spokenOf,
  streamOffsetMs,
  type TranscriptItem,
} from './evidence.ts';
import type { Picture, PictureTurn } from './picture.ts';
import { RATE_HZ } from './sound.ts';
import { STAGES, type WaterfallRow } from './waterfall.ts';

const OUTCOMES: Record<string, string> = {
  completed: 'completed',
  no_answer: 'nobody picked up',
  busy: 'the line was busy',
  canceled: 'canceled',
  failed: 'failed',
};
const SPARE_MS = 600;
const NOTHING = new Float32Array();

function unheardOf(line: TranscriptItem, generated: string): string {
  const whole = generated.length > line.text.length ? generated : line.text;
  return line.interrupted && whole.startsWith(line.heard_text)
    ? whole.slice(line.heard_text.length).trim()
    : '';
}

const ENDINGS: Record<string, string> = {
  agent_ended: 'the agent ended the call',
  remote_hangup: 'the person hung up',
  caller_ended: 'the person hung up',
  caller_silent: 'ended, because nobody spoke',
  voicemail: 'ended after the message',
};

/** How a call ended, in plain words. */
export function endingOf(call: Pick<CallObject, 'status' | 'hangup_cause'>): string {
  if (call.status !== 'completed') return `ended: ${OUTCOMES[call.status] ?? call.status}`;
  const cause = call.hangup_cause ?? '';
  return ENDINGS[cause] ?? `ended: ${cause.replaceAll('_', ' ')}`;
}

/** What each wait of the person was made of, as the daemon recorded it. */
function waitsOf({ turns, carrier }: Evidence): WaterfallRow[] {
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  return turns.flatMap(({ kind, latency_ms: totalMs, speech_end_ms, first_heard_ms, parts }) => {
    // A prompt answers nobody, and what was never heard was not waited for.
    if (totalMs === null || first_heard_ms === null || kind === 'prompt') return [];
    const fromMs = (speech_end_ms ?? first_heard_ms - totalMs) + offsetMs;
    return [
      {
        label: kind === 'greeting' ? 'the greeting' : `answer at ${(fromMs / 1000).toFixed(1)} s`,
        totalMs,
        parts: STAGES.flatMap((stage) => {
          const ms = parts[`${stage}_ms`];
          return ms === null ? [] : [{ stage, ms }];
        }),
      },
    ];
  });
}

/** When the agent's voice was lowered and paused, as the daemon recorded it. */
function holdsOf({ interruptions, carrier }: Evidence): Picture['holds'] {
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  return interruptions.flatMap(({ at_ms, held_ms, paused_ms, taken_back }) =>
    held_ms === null
      ? []
      : [
          {
            fromMs: held_ms + offsetMs,
            pausedMs: paused_ms === null ? null : paused_ms + offsetMs,
            toMs: at_ms + offsetMs,
            passed: taken_back,
          },
        ],
  );
}

/** Where answers were begun in a pause of the person's and thrown away: at the end of the turn that he went on with. */
function thrownAwayOf({ turns, carrier }: Evidence): Picture['thrownAway'] {
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  return turns.flatMap(({ thrown_away: count, speech_end_ms, decided_ms }) =>
    count === 0 ? [] : [{ atMs: (speech_end_ms ?? decided_ms) + offsetMs, count }],
  );
}

/** When there was no line, as the daemon recorded it; one that never came back lasts to the end. */
function gapsOf({ call, carrier }: Evidence, endedMs: number): Picture['gaps'] {
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);
  return call.gaps.map(({ from_ms, to_ms }) => ({
    fromMs: from_ms + offsetMs,
    toMs: to_ms === null ? endedMs : to_ms + offsetMs,
    back: to_ms !== null,
  }));
}

export function pictureOf(evidence: Evidence): Picture {
  const { call, carrier, scenario, sounds, transcript } = evidence;
  const answeredMs = carrier?.answeredAtMs ?? null;
  // Times of the phone network count from the call's creation.
  const zeroMs = answeredMs ?? 0;
  const at = (status: string) => carrier?.timeline.find((entry) => entry.status === status)?.atMs ?? null;
  const endedMs = (carrier?.endedAtMs ?? zeroMs) - zeroMs;
  const ringingMs = at('ringing');
  const offsetMs = carrier === null ? 0 : streamOffsetMs(carrier);

  const spoken = spokenOf(evidence);
  const pairs = pairLines(transcript.data, spoken);
  const agentSpurts = carrier?.conversation?.agentSpurts ?? [];
  const turns: PictureTurn[] = [];
  const ghosts: Picture['ghosts'] = [];
  for (const line of transcript.data) {
    if (line.role !== 'caller' || line.text === '') continue;
    turns.push({
      who: 'person',
      startMs: line.start_ms + offsetMs,
      endMs: Math.min(endedMs, (line.end_ms ?? line.start_ms) + offsetMs),
      text: line.text,
      unheard: '',
    });
  }
  for (const { line, item } of pairs) {
    if (line === null) continue;
    const startMs = line.start_ms + offsetMs;
    let endMs = (line.end_ms ?? line.start_ms) + offsetMs;
    if (line.heard_text === '' && line.interrupted) {
      // What was cut before its first sound took no time on the line; of some there was a sound, and no whole word.
      const sound = agentSpurts.find(
        (spurt) => spurt.startMs >= startMs - 100 && spurt.startMs < startMs + 500,
      );
      if (sound === undefined) continue;
      endMs = sound.endMs;
    }
    turns.push({
      who: 'agent',
      startMs,
      endMs,
      text: line.heard_text,
      unheard: unheardOf(line, item?.say ?? ''),
    });
    if (item === null || item.cutMs === null || sounds.modelSent === null) continue;
    const from = Math.round(((item.fromMs + item.cutMs) * RATE_HZ) / 1000);
    const to = Math.round(((item.fromMs + item.ms) * RATE_HZ) / 1000);
    ghosts.push({ startMs: endMs, samples: sounds.modelSent.subarray(from, to) });
  }
  // A cut voice is shown until the agent's next words.
  for (const ghost of ghosts) {
    const next = turns
      .filter(({ who, startMs }) => who === 'agent' && startMs > ghost.startMs)
      .sort((a, b) => a.startMs - b.startMs)[0];
    const room = ((next?.startMs ?? endedMs) - 200 - ghost.startMs) * (RATE_HZ / 1000);
    ghost.samples = ghost.samples.subarray(0, Math.max(0, Math.round(room)));
  }

  const marks: Picture['marks'] = [];
  const line = call.disclosure ?? null;
  const lineEndMs = line === null ? 0 : (line.ended_ms ?? line.started_ms) + offsetMs;
  if (line !== null) {
    marks.push({ atMs: line.started_ms + offsetMs, label: 'said first: nothing interrupts it' });
    marks.push({ atMs: lineEndMs, label: line.complete ? 'heard whole' : 'heard in part' });
  }
  if (call.opted_out != null) {
    marks.push({ atMs: call.opted_out.at_ms + offsetMs, label: 'asks not to be called again: noted' });
  }
  if (ringingMs !== null) marks.push({ atMs: ringingMs - zeroMs, label: 'ringing' });
  if (answeredMs !== null) {
    marks.push({ atMs: 0, label: scenario.direction === 'inbound' ? 'the agent picks up' : 'picked up' });
  }
  if (carrier?.voicemail) marks.push({ atMs: carrier.voicemail.beepEndedMs, label: 'end of the beep' });
  if (evidence.killed !== null && carrier !== null) {
    const since = Date.parse(carrier.createdAt) + zeroMs;
    marks.push({ atMs: evidence.killed.atMs - since, label: 'the daemon is killed' });
    marks.push({ atMs: evidence.killed.listeningMs - since, label: 'started again' });
  }
  for (const line of transcript.data) {
    if (line.role === 'tool') {
      marks.push({ atMs: line.start_ms + offsetMs, label: 'tool call: the order is looked up' });
    }
  }
  marks.push({ atMs: endedMs, label: endingOf(call) });

  const outcome = OUTCOMES[call.status] ?? call.status;
  const result = call.result === null ? '' : ` · result: ${JSON.stringify(call.result)}`;
  const talked = answeredMs === null ? '' : `, ${(endedMs / 1000).toFixed(1)} s`;
  const firstMs = ringingMs === null ? 0 : ringingMs - zeroMs;
  const [person, agent] =
    scenario.direction === 'inbound'
      ? [call.from_number, call.to_number]
      : [call.to_number, call.from_number];
  return {
    title: `${scenario.title}: ${scenario.direction} call, ${outcome}${talked}`,
    subtitle: `${call.from_number} called ${call.to_number} on ${call.created_at.slice(0, 10)} at ${call.created_at.slice(11, 19)} UTC${result}`,
    names: {
      person: [scenario.expected.message ? 'Voicemail' : 'Person', person],
      agent: ['Agent', agent],
    },
    fromMs: Math.min(0, firstMs) - SPARE_MS,
    toMs: endedMs + SPARE_MS,
    ringing: ringingMs === null ? null : { fromMs: firstMs, toMs: answeredMs === null ? endedMs : 0 },
    voices: { person: sounds.phone?.caller ?? NOTHING, agent: sounds.phone?.agent ?? NOTHING },
    ghosts: ghosts.filter(({ samples }) => samples.length > 0),
    turns,
    answers: scenario.expected.message ? [] : answersOf(evidence),
    // What is said first cannot be interrupted: who speaks over it cuts nothing.
    bargeIns: bargeInsOf(evidence).filter(({ atMs }) => atMs >= lineEndMs),
    holds: holdsOf(evidence),
    thrownAway: thrownAwayOf(evidence),
    gaps: gapsOf(evidence, endedMs),
    marks,
    waits: waitsOf(evidence),
  };
}
