// A talk with all that a call has between its model and its carrier, but for the thread's clock and the carrier's socket: the
// line takes whatever it is given, and a test says when a mark comes back.
import { EchoGuard } from '../../../audio/echo-guard.ts';
import { MULAW_8K } from '../../../audio/format.ts';
import { AgentVoice, type VoiceLine } from '../../../bridge/media/agent-voice.ts';
import { CallRecorder } from '../../../bridge/media/call-recorder.ts';
import { CallerClock } from '../../../bridge/media/caller-clock.ts';
import { Talk, type TalkPorts } from '../../../bridge/media/talk.ts';
import { TalkRecord } from '../../../bridge/media/talk-record.ts';
import type { FromMedia, PrepareCall } from '../../../bridge/protocol/messages.ts';
import { Floor } from '../../../bridge/turns/floor.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';

export interface TalkParts {
  talk: Talk;
  voice: AgentVoice;
  floor: Floor;
  record: TalkRecord;
}

/** @param line told what the carrier is given: marks, and that it is to drop what it has */
export function openTalkParts(
  plan: PrepareCall,
  o: {
    now: () => number;
    newId: () => string;
    openModel: TalkPorts['openModel'];
    post(message: FromMedia): void;
    line: Pick<VoiceLine, 'mark' | 'clear'> & Partial<VoiceLine>;
  },
): TalkParts {
  const { callId, texts, machine } = plan;
  const floor = new Floor({ greets: texts.greeting !== null, plan: machine }, TURN_RULES);
  const record = new TalkRecord({ callId, post: o.post, now: o.now, newId: o.newId });
  const voice = new AgentVoice({
    format: MULAW_8K,
    floor,
    echo: new EchoGuard(),
    recorder: new CallRecorder({ path: null, now: o.now, onError() {} }),
    recentLateMs: () => 0,
    onStart: record.sent,
    counters: { framesOut: 0 },
  });
  const line: VoiceLine = {
    look: () => 'open',
    cork() {},
    uncork() {},
    audio() {},
    markBack() {},
    ...o.line,
  };
  voice.attach(line, new CallerClock(0));
  const talk = new Talk(plan, {
    floor,
    voice,
    record,
    format: MULAW_8K,
    openModel: o.openModel,
    post: o.post,
    now: o.now,
  });
  return { talk, voice, floor, record };
}
