// The bridge's Prometheus metrics: calls by how they ended, latencies of answers as heard, and how the media threads keep time.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { type TurnParts, turnView } from '../../storage/turn-view.ts';
import type { ListeningLoad } from '../listener/listening-messages.ts';
import type { ThreadLoad, ThreadMemory } from '../protocol/messages.ts';
import type { CallObserver } from './call-observers.ts';
import type { MediaThreads } from './media-threads.ts';

const MEMORY: Readonly<Record<string, keyof ThreadMemory>> = {
  heap_used: 'heapUsed',
  heap_total: 'heapTotal',
  external: 'external',
  array_buffers: 'arrayBuffers',
};
const SECONDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10];

/** Registers the metrics and answers what feeds them. */
export function observeBridge(registry: Registry, threads: () => MediaThreads | null): CallObserver {
  const registers = [registry];
  const ended = new Counter({
    name: 'offhook_calls_ended_total',
    help: 'Calls by direction and final status',
    labelNames: ['direction', 'status'] as const,
    registers,
  });
  const refused = new Counter({
    name: 'offhook_calls_refused_total',
    help: 'Calls not taken, by reason',
    labelNames: ['reason'] as const,
    registers,
  });
  const bargeIns = new Counter({
    name: 'offhook_barge_ins_total',
    help: 'Times a caller cut the agent short',
    registers,
  });
  const takenBack = new Counter({
    name: 'offhook_barge_ins_taken_back_total',
    help: 'Times the voice was held back for a sound that was no interruption, and went on',
    registers,
  });
  const shortWords = new Counter({
    name: 'offhook_short_words_total',
    help: 'Short words over the voice, by what their transcript made of them: stopped, go-on, nothing, late',
    labelNames: ['became'] as const,
    registers,
  });
  const held = new Histogram({
    name: 'offhook_voice_held_seconds',
    help: 'How long such a sound had the voice lowered, and paused where it lasted: how is lowered or paused',
    labelNames: ['how'] as const,
    buckets: [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5],
    registers,
  });
  const reaction = new Histogram({
    name: 'offhook_barge_in_silenced_seconds',
    help: "The caller's first sound over the agent's voice to the last sound of that voice heard at the carrier",
    buckets: [0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1, 2],
    registers,
  });
  const answer = new Histogram({
    name: 'offhook_answer_heard_seconds',
    help: "End of the caller's speech to the first sound of the answer heard at the carrier",
    buckets: SECONDS,
    registers,
  });
  const own = new Histogram({
    name: 'offhook_answer_own_seconds',
    help: "The daemon's own part of an answer: deciding the turn, and model audio to the first frame sent",
    buckets: [0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.25, 0.5, 0.75, 1, 2],
    registers,
  });
  const early = new Counter({
    name: 'offhook_early_answers_total',
    help: "Answers begun in a caller's pause, before the turn was over: released, or thrown_away unheard",
    labelNames: ['end'] as const,
    registers,
  });
  const greeting = new Histogram({
    name: 'offhook_greeting_heard_seconds',
    help: 'Start of the media stream to the first sound of the greeting heard at the carrier',
    buckets: SECONDS,
    registers,
  });
  const stages = new Histogram({
    name: 'offhook_turn_stage_seconds',
    help: 'What the wait for the greeting or an answer was made of: end_of_turn, request, model, send, playout',
    labelNames: ['kind', 'stage'] as const,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10],
    registers,
  });
  const gaps = new Counter({
    name: 'offhook_call_gaps_total',
    help: 'Times in which a call had no sound, by why (stream_lost, thread_lost, daemon_restart) and how they ended: resumed, or call_ended',
    labelNames: ['why', 'ended'] as const,
    registers,
  });
  const gapSeconds = new Histogram({
    name: 'offhook_call_gap_seconds',
    help: 'How long the line had no sound, by why, however that ended',
    labelNames: ['why'] as const,
    buckets: [0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 5, 10, 20, 40],
    registers,
  });
  const perThread = (name: string, help: string, read: (load: ThreadLoad) => number | null) =>
    new Gauge({
      name,
      help,
      labelNames: ['thread'] as const,
      registers,
      collect() {
        this.reset();
        for (const { thread, load } of threads()?.loads() ?? []) {
          const value = read(load);
          if (value !== null) this.set({ thread }, value);
        }
      },
    });
  perThread(
    'offhook_media_loop_delay_p99_seconds',
    'How late a media thread came to what waited for it, beyond the sleep of its rounds, last second',
    (load) => load.loopDelayP99Ms / 1000,
  );
  perThread(
    'offhook_media_loop_delay_max_seconds',
    'The same at its worst: its longest block, last second',
    (load) => load.loopDelayMaxMs / 1000,
  );
  perThread(
    'offhook_media_tick_late_max_seconds',
    'The latest tick of the 20 ms clock, last second',
    (load) => load.tickLateMaxMs / 1000,
  );
  perThread(
    'offhook_media_frame_age_p50_seconds',
    'How much later than the quickest of their stream frames were worked on, rounds of 5 or 10 ms included: the middle, last second',
    (load) => (load.frameAgeP50Ms === null ? null : load.frameAgeP50Ms / 1000),
  );
  perThread(
    'offhook_media_frame_age_p99_seconds',
    "The same, the 99th of a hundred; the lines' own jitter is in it",
    (load) => (load.frameAgeP99Ms === null ? null : load.frameAgeP99Ms / 1000),
  );
  new Gauge({
    name: 'offhook_media_thread_late',
    help: '1 while a media thread runs late and takes no new calls',
    labelNames: ['thread'] as const,
    registers,
    collect() {
      this.reset();
      for (const { thread, pace } of threads()?.running() ?? [])
        this.set({ thread }, pace.at === 'late' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'offhook_thread_memory_bytes',
    help: "What each thread's JavaScript holds: heap_used, heap_total, external (array_buffers are in it)",
    labelNames: ['thread', 'kind'] as const,
    registers,
    collect() {
      this.reset();
      const held: [string | number, ThreadMemory][] = [['control', process.memoryUsage()]];
      for (const { thread, load } of threads()?.loads() ?? []) held.push([thread, load.memory]);
      const listening = threads()?.listeningLoad();
      if (listening) held.push(['listening', listening.memory]);
      for (const [thread, memory] of held)
        for (const [kind, key] of Object.entries(MEMORY)) this.set({ thread, kind }, memory[key]);
    },
  });
  const ofListening = (name: string, help: string, read: (load: ListeningLoad) => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        const load = threads()?.listeningLoad();
        if (load) this.set(read(load));
        else this.remove();
      },
    });
  ofListening(
    'offhook_listening_streams',
    'Media streams that the listening thread joins to their media threads; where there is one',
    (load) => load.streams,
  );
  ofListening(
    'offhook_listening_loop_delay_p99_seconds',
    'How late the listening thread came to what waited for it, last second',
    (load) => load.loopDelayP99Ms / 1000,
  );
  ofListening(
    'offhook_listening_loop_delay_max_seconds',
    'The same at its worst',
    (load) => load.loopDelayMaxMs / 1000,
  );
  perThread('offhook_media_calls', 'Calls that a media thread holds', (load) => load.calls);
  perThread(
    'offhook_media_frames_in',
    'Frames received from carriers since the start',
    (load) => load.framesIn,
  );
  perThread(
    'offhook_media_frames_late',
    'Of these, worked on 20 ms or more after the quickest of their stream',
    (load) => load.framesLate,
  );
  perThread('offhook_media_frames_out', 'Frames sent to carriers since the start', (load) => load.framesOut);

  return {
    ended: (call) => ended.inc({ direction: call.direction, status: call.status }),
    refused: (reason) => refused.inc({ reason }),
    gap(why, seconds, how) {
      gaps.inc({ why, ended: how });
      gapSeconds.observe({ why }, seconds);
    },
    interruption(one) {
      if (one.taken_back) {
        takenBack.inc();
        const { at_ms: atMs, held_ms: heldMs, paused_ms: pausedMs } = one;
        const observe = (how: 'lowered' | 'paused', ms: number) =>
          held.observe({ how }, Math.max(0, ms) / 1000);
        // One that was paused from the first moment on was never lowered.
        if (heldMs !== null && heldMs !== pausedMs) observe('lowered', (pausedMs ?? atMs) - heldMs);
        if (pausedMs !== null) observe('paused', atMs - pausedMs);
        return;
      }
      bargeIns.inc();
      if (one.onset_ms !== null && one.silenced_ms !== null)
        reaction.observe(Math.max(0, one.silenced_ms - one.onset_ms) / 1000);
    },
    shortWord: (became) => shortWords.inc({ became }),
    turn(record) {
      const { kind, latency_ms: latencyMs, parts } = turnView(record);
      if (record.thrown_away > 0) early.inc({ end: 'thrown_away' }, record.thrown_away);
      if (record.requested_ms !== null && record.requested_ms < record.decided_ms)
        early.inc({ end: 'released' });
      const spoken = kind === 'answer' && record.speech_end_ms !== null;
      if (latencyMs === null || !(spoken || kind === 'greeting')) return;
      if (kind === 'greeting') greeting.observe(latencyMs / 1000);
      else answer.observe(latencyMs / 1000);
      for (const [stage, ms] of Object.entries(parts) as [keyof TurnParts, number | null][]) {
        if (ms !== null)
          stages.observe({ kind, stage: stage.slice(0, -'_ms'.length) }, Math.max(0, ms) / 1000);
      }
      if (parts.send_ms !== null) own.observe(((parts.end_of_turn_ms ?? 0) + parts.send_ms) / 1000);
    },
  };
}
