// Writes the folder of one simulated call: recording, picture, and everything that was said and sent, as JSON.
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Check } from './checks.ts';
import { answersOf, bargeInsOf, type Evidence } from './evidence.ts';
import { drawCall } from './picture.ts';
import { pictureOf } from './picture-data.ts';

/** @param recording the file as the daemon served it, null when there was none */
export function writeResults(
  folder: string,
  evidence: Evidence,
  o: { checks: readonly Check[]; recording: Uint8Array | null },
): void {
  mkdirSync(folder, { recursive: true });
  const json = (name: string, value: unknown) =>
    writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  const { call, transcript, events, deliveries, carrier, sessions, toolRequests } = evidence;
  json('call.json', call);
  json('transcript.json', transcript);
  json('events.json', events);
  json('deliveries.json', deliveries);
  json('carrier.json', carrier);
  json('model.json', { sessions, refused_extractions: evidence.refusedExtractions });
  const picture = pictureOf(evidence);
  json('turns.json', {
    about: 'times in ms since the call was picked up, as the person on the phone heard it',
    turns: picture.turns.map(({ who, startMs, endMs, text, unheard }) => ({
      who,
      start_ms: Math.round(startMs),
      end_ms: Math.round(endMs),
      text,
      unheard,
    })),
    answers: answersOf(evidence).map(({ fromMs, toMs }) => ({
      person_ended_ms: fromMs,
      agent_heard_ms: toMs,
      latency_ms: toMs - fromMs,
    })),
    barge_ins: bargeInsOf(evidence).map(({ atMs, reactionMs }) => ({
      at_ms: atMs,
      agent_silent_after_ms: reactionMs,
    })),
    /** As the daemon recorded them: GET /v1/calls/{id}/turns. */
    recorded: evidence.turns,
    interruptions: evidence.interruptions,
  });
  json('checks.json', o.checks);
  if (toolRequests.length > 0) json('tool-requests.json', toolRequests);
  writeFileSync(join(folder, 'picture.svg'), drawCall(picture));
  if (o.recording !== null) writeFileSync(join(folder, 'recording.wav'), o.recording);
  const session = sessions[0];
  for (const [path, name] of [
    [carrier?.recordingPath, 'phone.wav'],
    [session?.received_wav, 'model-received.wav'],
    [session?.sent_wav, 'model-sent.wav'],
  ] as const) {
    if (path == null) continue;
    mkdirSync(join(folder, 'sounds'), { recursive: true });
    try {
      copyFileSync(path, join(folder, 'sounds', name));
    } catch {
      // A check has said that the sound is missing.
    }
  }
}

export function writeLog(folder: string, daemonLines: readonly string[]): void {
  writeFileSync(join(folder, 'daemon.log'), `${daemonLines.join('\n')}\n`);
}
