// The person at the other end follows a script, listening before speaking.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { type AmdParameters, MachineDetector } from '../../scripts/carrier-simulator/amd.ts';
import { Callee, type CalleeEvent, soundsOf } from '../../scripts/carrier-simulator/callee.ts';
import { Conversation } from '../../scripts/carrier-simulator/conversation.ts';
import { type CalleeInput, parseCallee, type Sound } from '../../scripts/carrier-simulator/options.ts';
import { type Clip, clipOf, toneSamples, wavSamples } from '../../scripts/carrier-simulator/sound.ts';

const AUDIO = join(import.meta.dirname, '../fixtures/audio');

function load(sound: Sound): Clip {
  if (sound.tone) return clipOf('tone', toneSamples([sound.tone.hz], sound.tone.ms, sound.tone.levelDb));
  return clipOf(sound.file!, wavSamples(readFileSync(join(AUDIO, sound.file!))));
}

/** Runs a script against an agent that is audible in the given stretches (ms), and answers what the callee did when. */
function play(input: CalleeInput, agent: [number, number][], untilMs: number) {
  const script = parseCallee(input);
  const clips = new Map(soundsOf(script).map((sound) => [JSON.stringify(sound), load(sound)]));
  const events: (CalleeEvent & { atMs: number })[] = [];
  const spoken: number[] = [];
  let now = 0;
  const callee = new Callee(
    script,
    (sound) => clips.get(JSON.stringify(sound))!,
    (event) => events.push({ ...event, atMs: now }),
  );
  for (now = 20; now <= untilMs; now += 20) {
    const audible = agent.some(([from, to]) => now > from && now <= to);
    if (callee.tick(now, audible)) spoken.push(now);
  }
  callee.finish(untilMs);
  return { callee, events, spoken, starts: spoken.filter((at) => !spoken.includes(at - 20)) };
}

const tone = (ms: number) => ({ tone: { hz: 400, ms } });

t.test('at_once: the callee speaks from the first frame', (t) => {
  const { spoken } = play({ steps: [{ do: 'say', when: 'at_once', ...tone(100) }] }, [], 1000);
  t.same(spoken, [20, 40, 60, 80, 100]);
  t.end();
});

t.test('a polite callee waits until the agent has spoken and been silent for as long as asked', (t) => {
  const steps = [{ do: 'say' as const, when: { afterAgentSilenceMs: 800 }, ...tone(200) }];
  // A pause of 500 ms inside the agent's speech is no end of it.
  const { starts } = play(
    { steps },
    [
      [0, 1000],
      [1500, 2000],
    ],
    5000,
  );
  t.same(starts, [2800]);
  t.end();
});

t.test('an agent that says nothing is waited for until the timeout', (t) => {
  const steps = [{ do: 'say' as const, when: { afterAgentSilenceMs: 800, timeoutMs: 3000 }, ...tone(200) }];
  const { starts } = play({ steps }, [], 5000);
  t.same(starts, [3020]);
  t.end();
});

t.test('every turn waits for a new answer of the agent', (t) => {
  const when = { afterAgentSilenceMs: 500, timeoutMs: 10_000 };
  const steps = [
    { do: 'say' as const, when, ...tone(400) },
    { do: 'say' as const, when, ...tone(400) },
  ];
  const { starts } = play(
    { steps },
    [
      [0, 1000],
      [3000, 4000],
    ],
    8000,
  );
  t.same(starts, [1500, 4500]);
  t.end();
});

t.test('barge_in: the callee cuts into speech that lasts, and not into less', (t) => {
  const steps = [{ do: 'barge_in' as const, afterAgentMs: 1500, timeoutMs: 20_000, ...tone(400) }];
  const { starts } = play(
    { steps },
    [
      [0, 1000],
      [2000, 6000],
    ],
    8000,
  );
  t.same(starts, [3520]);
  const shy = play({ steps: [{ ...steps[0]!, timeoutMs: 3000 }] }, [], 8000);
  t.same(shy.starts, []);
  t.equal(shy.callee.reports[0]!.skipped, true);
  // A line that stands still in between: what was heard counts, not how long it took.
  const stalled = play(
    { steps },
    [
      [0, 1000],
      [1400, 6000],
    ],
    8000,
  );
  t.same(stalled.starts, [1920]);
  t.end();
});

t.test('whoever hangs up in the middle of a sentence has heard its beginning', (t) => {
  const hangUp = { do: 'hang_up' as const, when: { afterAgentMs: 1000, timeoutMs: 5000 } };
  const at = (heard: [number, number][]) =>
    play({ steps: [hangUp] }, heard, 8000).events.find(({ type }) => type === 'hang-up')?.atMs;
  t.equal(at([[3000, 6000]]), 4020);
  t.equal(at([]), 5020, 'or waits in vain');
  t.end();
});

t.test('keys are pressed one after the other, w waits half a second', (t) => {
  const { events, spoken } = play({ steps: [{ do: 'dtmf', digits: '1w2' }] }, [], 2000);
  t.same(
    events.filter((event) => event.type === 'digit').map((event) => [event.digit, event.atMs]),
    [
      ['1', 20],
      ['2', 720],
    ],
  );
  t.same(spoken, [], 'the tone itself is muted');
  const tones = play({ steps: [{ do: 'dtmf', digits: '1', inBand: true }] }, [], 2000);
  t.same(
    tones.events.filter((event) => event.type === 'digit'),
    [],
  );
  t.equal(tones.spoken.length, 10);
  t.end();
});

t.test('waiting and hanging up', (t) => {
  const { events } = play({ steps: [{ do: 'wait', ms: 500 }, { do: 'hang_up' }] }, [], 2000);
  t.same(
    events.filter((event) => event.type === 'hang-up').map((event) => event.atMs),
    [520],
  );
  t.end();
});

t.test('a voicemail box greets, beeps, records the message and hangs up after silence', (t) => {
  const box: CalleeInput = {
    voicemail: { greeting: tone(1000), beep: { hz: 1000, ms: 500 }, silenceMs: 2000, noMessageMs: 3000 },
  };
  const { callee, events } = play(box, [[2000, 5000]], 10_000);
  t.match(callee.voicemail, {
    beepEndedMs: 1500,
    messageStartMs: 2000,
    messageEndMs: 5000,
    endedBy: 'silence',
  });
  t.match(events.at(-1), { type: 'hang-up', atMs: 7000 });

  const none = play(box, [], 10_000);
  t.match(none.callee.voicemail, { messageStartMs: null, endedBy: 'no_message' });
  const cut = play(box, [[2000, 5000]], 5500);
  t.match(cut.callee.voicemail, { messageEndMs: 5000, endedBy: 'hang_up' });
  t.end();
});

t.test('a script with a mistake is refused by name', (t) => {
  t.throws(() => parseCallee({ steps: [{ do: 'say' }] }), /either file or tone/);
  t.throws(() => parseCallee({ steps: [{ do: 'sing' }] }), /do/);
  t.throws(() => parseCallee({ ringMS: 5 }), /ringMS/);
  t.end();
});

const AMD: AmdParameters = {
  mode: 'Enable',
  timeoutMs: 30_000,
  speechThresholdMs: 2400,
  speechEndThresholdMs: 1200,
  silenceTimeoutMs: 5000,
};

function detect(parameters: Partial<AmdParameters>, clip: Clip | null, test: Test, leadMs = 0) {
  const detector = new MachineDetector({ ...AMD, ...parameters });
  for (let now = 20; now < 40_000; now += 20) {
    const frame = clip?.frames[(now - leadMs) / 20 - 1];
    const verdict = detector.step(now, frame?.levelDb ?? -100, frame?.toneHz ?? 0);
    if (verdict !== null) {
      test.equal(detector.step(now + 20, -100, 0), null, 'once only');
      return { verdict, atMs: now };
    }
  }
  return null;
}

t.test('machine detection by the clock of speech and silence', (t) => {
  const speech = (ms: number) => {
    const clip = clipOf('speech', toneSamples([200, 330, 470], ms, -12));
    for (const frame of clip.frames) frame.toneHz = 0;
    return clip;
  };
  // The end of the word, then 1.2 s: https://www.twilio.com/docs/voice/answering-machine-detection
  t.match(detect({}, speech(800), t), { verdict: 'human', atMs: 2000 });
  t.match(detect({}, speech(800), t, 1000), { verdict: 'human', atMs: 3000 });
  t.equal(detect({}, speech(6000), t)!.verdict, 'machine_start');
  t.equal(detect({ speechThresholdMs: 1000 }, speech(1500), t)!.verdict, 'machine_start');
  t.match(detect({}, null, t), { verdict: 'unknown', atMs: 5000 });
  t.match(detect({ mode: 'DetectMessageEnd' }, speech(6000), t), {
    verdict: 'machine_end_silence',
    atMs: 8000,
  });
  t.match(detect({ mode: 'DetectMessageEnd', timeoutMs: 4000 }, speech(60_000), t), {
    verdict: 'unknown',
    atMs: 4000,
  });
  t.equal(detect({}, clipOf('fax', toneSamples([2100], 3000, -12)), t)!.verdict, 'fax');
  t.end();
});

t.test('machine detection of recorded speech', (t) => {
  const greeting = load({ file: 'voicemail-greeting-with-beep.wav', gainDb: 0 });
  t.equal(detect({}, greeting, t)!.verdict, 'machine_start');
  const beep = detect({ mode: 'DetectMessageEnd' }, greeting, t)!;
  t.equal(beep.verdict, 'machine_end_beep');
  t.ok(
    beep.atMs >= greeting.durationMs && beep.atMs <= greeting.durationMs + 300,
    'soon after the end of the beep',
  );
  // A speech with pauses has vowels, but no beep.
  const speech = load({ file: 'jfk-8k.wav', gainDb: 0 });
  t.same(
    speech.frames.filter((frame) => frame.toneHz > 0),
    [],
  );
  t.end();
});

t.test('a conversation is measured: first audio, answers, barge-ins, dead air', (t) => {
  const conversation = new Conversation();
  const transitions: string[] = [];
  const speaks = (stretches: [number, number][], now: number) =>
    stretches.some(([from, to]) => now > from && now <= to) ? -20 : -100;
  for (let now = 20; now <= 12_000; now += 20) {
    const callee = speaks(
      [
        [0, 1000],
        [4000, 5000],
      ],
      now,
    );
    const agent = speaks(
      [
        [1600, 4240],
        [6000, 7000],
      ],
      now,
    );
    conversation.step(now, callee, agent, (transition) => transitions.push(transition));
  }
  conversation.finish();
  t.same(conversation.report(), {
    firstAgentAudioMs: 1600,
    agentSpurts: [
      { startMs: 1600, endMs: 4240 },
      { startMs: 6000, endMs: 7000 },
    ],
    calleeSpurts: [
      { startMs: 0, endMs: 1000 },
      { startMs: 4000, endMs: 5000 },
    ],
    bargeIns: [{ calleeOnsetMs: 4000, agentStoppedMs: 4240, reactionMs: 240 }],
    responseMs: [600, 1000],
    overlapMs: 240,
    longestSilenceMs: 5000,
  });
  t.same(transitions, [
    'callee.speaking',
    'callee.stopped',
    'agent.audible',
    'callee.speaking',
    'agent.stopped',
    'callee.stopped',
    'agent.audible',
    'agent.stopped',
  ]);
  t.end();
});
