// PURE. Everything known of a call, as plain data for the control API and the simulate script.

import type { Call } from './call.ts';
import type { StepReport, VoicemailReport } from './callee.ts';
import type { ConversationReport } from './conversation.ts';
import type { HookReport } from './hooks.ts';
import type { StreamReport, Violation } from './stream-report.ts';

/** Times ending in `AtMs` or `Ms` count from the call's creation, but `conversation`, `steps`, `voicemail` and `amd`
 * count from the answer, on the 20 ms clock. */
export interface CallReport {
  sid: string;
  direction: string;
  to: string;
  from: string;
  parentSid: string | null;
  status: string;
  createdAt: string;
  timeline: { status: string; atMs: number }[];
  answeredAtMs: number | null;
  endedAtMs: number | null;
  endedBy: string | null;
  endedWhy: string | null;
  sipResponseCode: number | null;
  durationSeconds: number | null;
  hooks: HookReport[];
  documents: { atMs: number; source: string; twiml: string }[];
  /**
   * Requests to change the call, such as `Status=completed`; `code`: refused with it; `host`: the name that the simulator
   * was asked by, which tells applications apart that were given different ones.
   */
  updates: { atMs: number; asked: string; code: number | null; host: string }[];
  /** The carrier's own errors and warnings. */
  errors: Violation[];
  /** Protocol violations of the application, from every stream. */
  violations: Violation[];
  spoken: string[];
  digitsHeard: string;
  streams: StreamReport[];
  conversation: ConversationReport | null;
  clippedSamples: number;
  steps: StepReport[];
  voicemail: VoicemailReport | null;
  amd: { verdict: string; atMs: number } | null;
  recordingPath: string | null;
  wirePath: string | null;
}

export function reportOf(call: Call): CallReport {
  const { options, ending, leg, callee } = call;
  const at = (status: string) => call.timeline.find((entry) => entry.status === status)?.atMs ?? null;
  return {
    sid: call.sid,
    direction: options.direction,
    to: options.to,
    from: options.from,
    parentSid: options.parentSid ?? null,
    status: call.status,
    createdAt: new Date(call.createdAt).toISOString(),
    timeline: call.timeline,
    answeredAtMs: at('in-progress'),
    endedAtMs: ending ? at(ending.status) : null,
    endedBy: ending?.by ?? null,
    endedWhy: ending?.why ?? null,
    sipResponseCode: ending?.sip ?? null,
    durationSeconds: call.durationSeconds(),
    hooks: call.requests.reports,
    documents: call.documents,
    updates: call.updates,
    errors: call.errors,
    violations: call.streams.flatMap((stream) => stream.report.violations),
    spoken: call.spoken,
    digitsHeard: call.digitsHeard,
    streams: call.streams.map((stream) => stream.report),
    conversation: leg?.conversation.report() ?? null,
    clippedSamples: leg?.clippedSamples ?? 0,
    steps: callee?.reports ?? [],
    voicemail: callee?.voicemail ?? null,
    amd: call.answeredBy === null ? null : { verdict: call.answeredBy, atMs: call.amdMs ?? 0 },
    recordingPath: call.recording?.path ?? null,
    wirePath: call.wirePath,
  };
}
