// What `npm run simulate` checks of a call, with evidence that is right and wrong.
import { Webhook } from 'standardwebhooks';
import t from 'tap';
import { checkCall } from '../../scripts/simulate/checks.ts';
import { answersOf, bargeInsOf, type Evidence, spokenItems } from '../../scripts/simulate/evidence.ts';
import { lostLines, silenceFrom } from '../../scripts/simulate/gap-checks.ts';
import { signatureError } from '../../scripts/simulate/run.ts';
import {
  bargeInEvidence,
  killedEvidence,
  lineLostEvidence,
  optOutEvidence,
  reminderEvidence,
  saidFirstEvidence,
} from './simulate-evidence.ts';

/** Half a second into the first line, in bytes. */
const WITHIN = 500 * 8;

const failed = (evidence: Evidence) => checkCall(evidence).filter(({ ok }) => !ok);

const STATUS = 'the call went as it should';
const AGREES = 'daemon and phone network tell the same';
const EVENTS = 'events came complete and in order';
const WEBHOOKS = 'webhooks arrived, once each, signed rightly';
const TO_MODEL = "the person's words reached the model";
const TO_PERSON = "the agent's voice reached the person, whole and in order";
const RECORDING = 'the recording holds both voices as the phone network had them';
const TRANSCRIPT = 'the transcript says what was said';
const BELIEF = 'the model believes it said what was heard, no more';
const BARGE_IN = 'the agent stopped when the person spoke';
const RESULT = 'the result is what was said';
const FRAMES = 'no frame of sound was lost';
const BROKE = 'the line broke, and came back within a second';
const ON = 'the agent went on at the last heard word, and nothing was lost';
const KILLED = 'the daemon was killed, and the call went on';
const SAID_FIRST = 'what is said first was heard whole, whoever spoke over it';
const OPT_OUT = 'who asks not to be called again is not';
const PROTOCOL = 'nobody broke a protocol, nothing was refused';

t.test('a call that went right passes every check', async (t) => {
  t.same(failed(reminderEvidence()), []);
  t.same(failed(bargeInEvidence()), []);
  t.same(failed(lineLostEvidence()), []);
  t.same(failed(killedEvidence()), []);
  t.equal(checkCall(reminderEvidence()).length, 12);
  t.equal(checkCall(bargeInEvidence()).length, 13);
  t.equal(checkCall(lineLostEvidence()).length, 14);
  t.equal(checkCall(killedEvidence()).length, 13);
});

/** Every way of going wrong, and the check that must tell. */
const WRONG: [what: string, check: string, spoil: (e: Evidence) => void, from?: () => Evidence][] = [
  ['the call failed', STATUS, (e) => Object.assign(e.call, { status: 'failed' })],
  ['an error is on the call', STATUS, (e) => Object.assign(e.call, { error_code: 'model_silent' })],
  ['another side ended it', STATUS, (e) => Object.assign(e.call, { hangup_cause: 'caller_silent' })],
  ['the phone network saw no answer', AGREES, (e) => Object.assign(e.carrier!, { status: 'no-answer' })],
  ['another number was called', AGREES, (e) => Object.assign(e.carrier!, { to: '+14155550111' })],
  [
    'it was answered before it was placed',
    AGREES,
    (e) => {
      e.call.answered_at = '2026-03-02T09:00:00.000Z';
    },
  ],
  [
    'the connected time is far off',
    AGREES,
    (e) => {
      e.carrier!.endedAtMs! -= 20_000;
    },
  ],
  [
    'the call never reached the network',
    AGREES,
    (e) => {
      e.carrier = null;
    },
  ],
  [
    'an event is missing',
    EVENTS,
    (e) => {
      e.events.splice(1, 1);
    },
  ],
  [
    'two events are swapped',
    EVENTS,
    (e) => {
      const [, second, third] = e.events;
      [second!.type, third!.type] = [third!.type, second!.type];
    },
  ],
  [
    'the count has a gap',
    EVENTS,
    (e) => {
      e.events.at(-1)!.sequence += 1;
    },
  ],
  [
    'the last event shows an older call',
    EVENTS,
    (e) => {
      e.events.at(-1)!.body.status = 'in_progress';
    },
  ],
  [
    'completed before the result',
    EVENTS,
    (e) => {
      e.events.at(-1)!.body.result_status = 'pending';
    },
  ],
  [
    'a signature is wrong',
    WEBHOOKS,
    (e) => {
      e.events[2]!.signature_error = 'No matching signature found';
    },
  ],
  [
    'an event came twice',
    WEBHOOKS,
    (e) => {
      e.events.push(e.events[0]!);
    },
  ],
  [
    'a delivery never arrived',
    WEBHOOKS,
    (e) => {
      e.deliveries.push({ ...e.deliveries[0]!, id: 'another' });
    },
  ],
  [
    'a delivery is still open',
    WEBHOOKS,
    (e) => {
      e.deliveries[0]!.status = 'pending';
    },
  ],
  [
    'a delivery was tried twice',
    WEBHOOKS,
    (e) => {
      e.deliveries[0]!.attempt_count = 2;
    },
  ],
  [
    'nothing was delivered',
    WEBHOOKS,
    (e) => {
      e.deliveries = [];
    },
  ],
  [
    'the model received silence',
    TO_MODEL,
    (e) => {
      e.sounds.modelReceived!.fill(0);
    },
  ],
  [
    'the model received nothing',
    TO_MODEL,
    (e) => {
      e.sounds.modelReceived = null;
    },
  ],
  [
    'the model received everything backwards',
    TO_MODEL,
    (e) => {
      e.sounds.modelReceived!.reverse();
    },
  ],
  [
    'the model missed half a second of words',
    TO_MODEL,
    (e) => {
      e.sounds.modelReceived!.fill(0, 1200 * 8, 1700 * 8);
    },
  ],
  [
    'the model received it at another rate',
    TO_MODEL,
    (e) => {
      const right = e.sounds.modelReceived!;
      e.sounds.modelReceived = right.map((_, i) => right[Math.floor(i * 0.92)]!);
    },
  ],
  [
    'the model received it with loud noise',
    TO_MODEL,
    (e) => {
      e.sounds.modelReceived = e.sounds.modelReceived!.map((s, i) => s + 9000 * Math.sin(i * i));
    },
  ],
  [
    'the person heard nothing',
    TO_PERSON,
    (e) => {
      e.sounds.phone!.agent.fill(0);
    },
  ],
  [
    "a hole is in the agent's speech",
    TO_PERSON,
    (e) => {
      e.sounds.phone!.agent.fill(0, 19_000 * 8, 19_500 * 8);
    },
  ],
  [
    "the agent's lines are swapped",
    TO_PERSON,
    (e) => {
      const { agent } = e.sounds.phone!;
      const first = agent.slice(700 * 8, 4200 * 8);
      agent.copyWithin(700 * 8, 18_000 * 8, 21_500 * 8);
      agent.set(first, 18_000 * 8);
    },
  ],
  [
    'less was played than meant to be',
    TO_PERSON,
    (e) => {
      e.carrier!.streams[0]!.playedBytes -= 8000;
    },
  ],
  [
    'more was played than the model said',
    TO_PERSON,
    (e) => {
      e.carrier!.streams[0]!.playedBytes += 8000;
    },
  ],
  [
    'the carrier ran dry within speech',
    TO_PERSON,
    (e) => {
      e.carrier!.streams[0]!.gaps.push({ atMs: 20_000, ms: 200, atBytes: WITHIN, afterMark: false });
    },
  ],
  [
    'there is no recording',
    RECORDING,
    (e) => {
      e.sounds.recording = null;
    },
  ],
  [
    'the recording has its channels swapped',
    RECORDING,
    (e) => {
      const { caller, agent } = e.sounds.recording!;
      e.sounds.recording = { caller: agent, agent: caller };
    },
  ],
  [
    'a second is missing in the recording',
    RECORDING,
    (e) => {
      e.sounds.recording!.agent.fill(0, 18_500 * 8, 19_500 * 8);
    },
  ],
  [
    'the recorded voices drift apart',
    RECORDING,
    (e) => {
      const { agent } = e.sounds.recording!;
      agent.copyWithin(17_000 * 8, 16_000 * 8, 22_000 * 8);
    },
  ],
  [
    'a word of the person is wrong',
    TRANSCRIPT,
    (e) => {
      const line = e.transcript.data.find(({ role }) => role === 'caller')!;
      line.text = line.text.replace('fellow', 'yellow');
    },
  ],
  [
    'a line of the person is missing',
    TRANSCRIPT,
    (e) => {
      e.transcript.data.splice(
        e.transcript.data.findIndex(({ role }) => role === 'caller'),
        1,
      );
    },
  ],
  [
    'a line of the agent is missing',
    TRANSCRIPT,
    (e) => {
      e.transcript.data.splice(
        e.transcript.data.findIndex(({ role }) => role === 'agent'),
        1,
      );
    },
  ],
  [
    'the agent is quoted wrongly',
    TRANSCRIPT,
    (e) => {
      e.transcript.data.find(({ role }) => role === 'agent')!.text = 'Something else.';
    },
  ],
  [
    'the transcript is not final',
    TRANSCRIPT,
    (e) => {
      e.transcript.status = 'live';
    },
  ],
  [
    'the model believes less than was heard',
    BELIEF,
    (e) => {
      e.sessions[0]!.items[1]!.believed_text = 'Thank you, your appointment';
    },
  ],
  [
    'the model believes what was cut',
    BELIEF,
    (e) => {
      e.sessions[0]!.items[1]!.believed_text = e.sessions[0]!.responses[1]!.say!;
    },
    bargeInEvidence,
  ],
  [
    'more words of a cut line count as heard than the model believes in',
    BELIEF,
    (e) => {
      const cut = e.transcript.data.find(({ interrupted }) => interrupted)!;
      cut.heard_text = 'Let me explain how this works. First, we';
    },
    bargeInEvidence,
  ],
  [
    'nothing of the cut line was left out',
    BELIEF,
    (e) => {
      const cut = e.transcript.data.find(({ interrupted }) => interrupted)!;
      cut.heard_text = cut.text;
      e.sessions[0]!.items[1]!.believed_text = cut.text;
    },
    bargeInEvidence,
  ],
  [
    'no line was cut',
    BARGE_IN,
    (e) => {
      for (const line of e.transcript.data) line.interrupted = false;
    },
    bargeInEvidence,
  ],
  [
    'the heard words are not the beginning',
    BARGE_IN,
    (e) => {
      const cut = e.transcript.data.find(({ interrupted }) => interrupted)!;
      cut.heard_text = 'explain how this works.';
    },
    bargeInEvidence,
  ],
  [
    'the agent talked on',
    BARGE_IN,
    (e) => {
      e.carrier!.conversation!.agentSpurts[1]!.endMs += 2000;
    },
    bargeInEvidence,
  ],
  [
    'the daemon counted no barge-in',
    BARGE_IN,
    (e) => {
      e.media!.bargeIns = 0;
    },
    bargeInEvidence,
  ],
  ['the result is wrong', RESULT, (e) => Object.assign(e.call.result!, { confirmed: false })],
  [
    'the result lacks a field',
    RESULT,
    (e) => {
      e.call.result = { confirmed: true, day: 'Tuesday' };
    },
  ],
  ['the result failed', RESULT, (e) => Object.assign(e.call, { result: null, result_status: 'failed' })],
  [
    'the result is of words that nobody heard',
    RESULT,
    (e) => {
      for (const line of e.transcript.data) if (/confirmed/.test(line.text)) line.heard_text = 'Thank you,';
    },
  ],
  [
    'the extraction was refused',
    RESULT,
    (e) => {
      e.refusedExtractions.push('invalid_schema: no');
    },
  ],
  [
    'frames did not arrive',
    FRAMES,
    (e) => {
      e.media!.framesIn -= 100;
    },
  ],
  [
    'the line lost frames',
    FRAMES,
    (e) => {
      e.carrier!.streams[0]!.sent.lost = 3;
    },
  ],
  [
    'frames are missing in the recording',
    FRAMES,
    (e) => {
      e.media!.recordingDropped = 1;
    },
  ],
  [
    'the voice was overdriven',
    FRAMES,
    (e) => {
      e.carrier!.clippedSamples = 40;
    },
  ],
  [
    'the daemon told no counts',
    FRAMES,
    (e) => {
      e.media = null;
    },
  ],
  [
    'the carrier saw a violation',
    PROTOCOL,
    (e) => {
      e.carrier!.violations.push({ code: 31951, message: 'no JSON', atMs: 1 });
    },
  ],
  [
    'the model saw a violation',
    PROTOCOL,
    (e) => {
      e.sessions[0]!.violations.push({ at_ms: 1, code: 'overlapping_response', message: 'two' });
    },
  ],
  [
    'the model answered with an error',
    PROTOCOL,
    (e) => {
      e.sessions[0]!.events.push({ at_ms: 1, from: 'server', type: 'error', error: { message: 'no' } });
    },
  ],
  [
    'the daemon logged an error',
    PROTOCOL,
    (e) => {
      e.logErrors.push('media.message_failed');
    },
  ],
  [
    'a second session was opened',
    PROTOCOL,
    (e) => {
      e.sessions.push({ ...e.sessions[0]!, events: [], items: [], responses: [] });
    },
  ],
];

for (const [what, check, spoil, from] of WRONG) {
  t.test(`${what}: "${check}" fails`, async (t) => {
    const evidence = (from ?? reminderEvidence)();
    spoil(evidence);
    const [found] = checkCall(evidence, check);
    t.equal(found?.ok, false);
    t.not(found?.detail, '', 'and says why');
  });
}

t.test(
  'sound that is missing in the recording has no place: no voice is said to lie elsewhere',
  async (t) => {
    for (const [fromMs, toMs] of [
      [18_000, 19_000],
      [18_200, 20_400],
    ] as const) {
      const evidence = reminderEvidence();
      evidence.sounds.recording!.agent.fill(0, fromMs * 8, toMs * 8);
      const [found] = checkCall(evidence, RECORDING);
      t.equal(found?.ok, false);
      t.match(found?.detail, /channel differs/);
      t.notMatch(found?.detail, /apart/);
    }
  },
);

t.test('a moment that is missing beside a hole of the line is held against the whole voice', async (t) => {
  for (const holed of [false, true]) {
    const evidence = reminderEvidence();
    evidence.sounds.recording!.agent.fill(0, 18_500 * 8, 18_800 * 8);
    if (holed)
      evidence.carrier!.streams[0]!.gaps.push({ atMs: 18_500, ms: 300, atBytes: WITHIN, afterMark: false });
    t.equal(checkCall(evidence, RECORDING)[0]?.ok, holed);
  }
});

t.test('a hole is one by where it lies in what was said, whether or not a mark stands there', async (t) => {
  const said = reminderEvidence();
  const [first] = said.sessions.flatMap(spokenItems);
  const between = ((first?.ms ?? 0) + 20) * 8;
  for (const afterMark of [false, true]) {
    for (const atBytes of [WITHIN, between]) {
      const evidence = reminderEvidence();
      evidence.carrier!.streams[0]!.gaps.push({ atMs: 18_500, ms: 300, atBytes, afterMark });
      const found = checkCall(evidence).find(({ name }) => name === TO_PERSON);
      t.equal(found?.ok, atBytes === between, `${atBytes} bytes`);
    }
  }
});

t.test('holes that a busy machine tears are told, and are no fault of the call', async (t) => {
  for (const lateMs of [0, 200, 500]) {
    const evidence = reminderEvidence();
    evidence.carrier!.streams[0]!.gaps.push({ atMs: 18_500, ms: 300, atBytes: WITHIN, afterMark: false });
    evidence.machineLateMs = lateMs;
    const found = checkCall(evidence).find(({ name }) => name === TO_PERSON);
    t.equal(found?.ok, lateMs === 500);
    t.match(found?.detail, /1 hole in it, 300 ms together/);
  }
});

t.test('a line cut after its first sound is too short to be looked for', async (t) => {
  const evidence = bargeInEvidence();
  const [, cut] = evidence.sessions[0]!.items;
  cut!.truncated_ms = 360;
  // Of its 2 s nothing but that is meant to be heard, and nothing of it was.
  evidence.sounds.phone!.agent.fill(0, 9_500 * 8, 11_500 * 8);
  evidence.carrier!.streams[0]!.playedBytes -= 1_640 * 8;
  t.match(checkCall(evidence, TO_PERSON), [{ ok: true }]);
  evidence.carrier!.streams[0]!.playedBytes -= 1_000 * 8;
  t.match(checkCall(evidence, TO_PERSON), [{ ok: false, detail: /were heard of/ }], 'its length counts');
});

t.test('answers are counted from the last word to the first sound', async (t) => {
  // The person's recordings end in words at 5500 + 10460 and 23000 + 5170 ms; the agent is heard at 18000 and 29500.
  t.same(answersOf(reminderEvidence()), [
    { fromMs: 15_960, toMs: 18_000 },
    { fromMs: 28_170, toMs: 29_500 },
  ]);
});

t.test('a barge-in is counted from the first word into the agent to its silence', async (t) => {
  // The recording begins at 11000 and its first word 300 ms later; the agent's line ends at 9500 + 2000.
  t.same(bargeInsOf(bargeInEvidence()), [{ atMs: 11_300, reactionMs: 200 }]);
  t.same(bargeInsOf(reminderEvidence()), []);
});

t.test('a signature is right for its own body, id, time and secret only', async (t) => {
  const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
  const now = new Date();
  const body = '{"id":"1"}';
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign('evt_1', now, body),
  };
  t.equal(signatureError(secret, { headers, body }), null);
  t.ok(signatureError(secret, { headers, body: '{"id":"2"}' }));
  t.ok(signatureError(secret, { headers: { ...headers, 'webhook-id': 'evt_2' }, body }));
  t.ok(signatureError(secret, { headers: { ...headers, 'webhook-timestamp': '1' }, body }));
  t.ok(signatureError(secret, { headers: {}, body }));
  t.ok(signatureError(`whsec_${Buffer.alloc(24, 8).toString('base64')}`, { headers, body }));
});

t.test('a murmur must be let pass, and what was begun in a pause be thrown away', async (t) => {
  const name = 'a murmur did not stop it, a pause was no end';
  const evidence = bargeInEvidence();
  evidence.scenario = {
    ...evidence.scenario,
    expected: { ...evidence.scenario.expected, giveAndTake: true },
  };
  const parts = { end_of_turn_ms: 1, request_ms: 0, model_ms: 1, send_ms: 1, playout_ms: 1 };
  evidence.turns = [
    {
      index: 1,
      kind: 'answer',
      speech_end_ms: 1,
      decided_ms: 2,
      first_heard_ms: 5,
      latency_ms: 4,
      thrown_away: 1,
      parts,
    },
  ];
  evidence.interruptions = [{ at_ms: 900, held_ms: 300, paused_ms: null, taken_back: true }];
  t.same(failed(evidence), []);
  t.match(
    checkCall(evidence).find((one) => one.name === name),
    { detail: '1 sound let pass, 1 answer thrown away unheard' },
  );
  t.match(failed({ ...evidence, turns: [] }), [{ name }]);
  const stopped = evidence.interruptions.map((one) => ({ ...one, taken_back: false }));
  t.match(failed({ ...evidence, interruptions: stopped }), [{ name }]);
});

t.test('a murmur over the agent is no barge-in, and nothing answers it', async (t) => {
  const evidence = bargeInEvidence();
  t.equal(bargeInsOf(evidence).length, 1);
  const [question, caller] = evidence.scenario.speaks;
  const speaks = [question!, { ...caller!, goOn: true as const }];
  const murmured = { ...evidence, scenario: { ...evidence.scenario, speaks } };
  t.same(bargeInsOf(murmured), []);
  t.equal(answersOf(murmured).length, answersOf(evidence).length - 1);
});

t.test('a line that breaks: as the phone network has it, and for how long nothing was heard', async (t) => {
  const evidence = lineLostEvidence();
  t.same(lostLines(reminderEvidence()), []);
  t.same(lostLines(evidence), [{ fromMs: 19_500, toMs: 20_000, unheardMs: 160 }]);
  const silentMs = silenceFrom(evidence.sounds.phone!.agent, 19_500) ?? 0;
  t.ok(silentMs >= 580 && silentMs <= 680, `${silentMs} ms`);
  t.equal(silenceFrom(evidence.sounds.phone!.agent, 33_900), null, 'nothing more comes');
  t.match(checkCall(evidence, BROKE)[0]?.detail, /^gone for 500 ms, the agent heard again after 6\d\d ms$/);
});

t.test('each way in which a call does not go on over a broken line is told', async (t) => {
  const cases: [what: string, check: string, says: RegExp, spoil: (e: Evidence) => void][] = [
    [
      'it never broke',
      BROKE,
      /broke 0 times, not 1/,
      (e) => Object.assign(e.carrier!.streams[0]!, { end: null }),
    ],
    ['it never came back', BROKE, /never came back/, (e) => e.carrier!.streams.splice(1)],
    ['no gap is told', BROKE, /has 0 gaps, not 1/, (e) => Object.assign(e.call, { gaps: [] })],
    [
      'another reason is told',
      BROKE,
      /says it was thread_lost/,
      (e) => Object.assign(e.call.gaps[0]!, { why: 'thread_lost' }),
    ],
    [
      'the gap is told open',
      BROKE,
      /says it was back at null/,
      (e) => Object.assign(e.call.gaps[0]!, { to_ms: null }),
    ],
    [
      'the gap is told late',
      BROKE,
      /2000 ms from when it did/,
      (e) => Object.assign(e.call.gaps[0]!, { from_ms: 21_490 }),
    ],
    [
      'the agent was silent for long',
      BROKE,
      /nothing was heard for [12]\d\d\d ms/,
      (e) => e.sounds.phone!.agent.fill(0, 19_500 * 8, 20_900 * 8),
    ],
    [
      'the agent never spoke again',
      BROKE,
      /nothing was heard for the rest of the call/,
      (e) => e.sounds.phone!.agent.fill(0, 19_500 * 8),
    ],
    [
      'it broke in a pause',
      BROKE,
      /was not speaking/,
      (e) => Object.assign(e.carrier!.streams[0]!.received, { bytes: 0 }),
    ],
    [
      'the model was asked anew',
      BROKE,
      /asked anew/,
      (e) => e.sessions.push({ ...e.sessions[0]!, id: 'sess_2' }),
    ],
    [
      'the line was cut there',
      ON,
      /counts as heard/,
      (e) =>
        Object.assign(e.transcript.data.find(({ text }) => text.startsWith('Thank you, your'))!, {
          interrupted: true,
          heard_text: 'Thank you,',
        }),
    ],
    [
      'some of it was skipped',
      ON,
      /320 ms of the agent were never heard/,
      (e) => {
        e.carrier!.streams[1]!.playedBytes -= 400 * 8;
      },
    ],
    [
      'much was heard twice',
      ON,
      /1580 ms of the agent were heard twice/,
      (e) => {
        e.carrier!.streams[1]!.playedBytes += 1_500 * 8;
      },
    ],
    [
      'no line was being spoken',
      ON,
      /in no line of the agent/,
      (e) => {
        e.transcript.data = e.transcript.data.filter(({ role }) => role === 'caller');
      },
    ],
    [
      'sound of the agent is missing',
      TO_PERSON,
      /differ/,
      (e) => e.sounds.phone!.agent.fill(0, 20_300 * 8, 21_300 * 8),
    ],
    ['it broke once more', PROTOCOL, /31921/, (e) => e.carrier!.errors.push({ ...e.carrier!.errors[0]! })],
  ];
  for (const [what, check, says, spoil] of cases) {
    const evidence = lineLostEvidence();
    spoil(evidence);
    const [found] = checkCall(evidence, check);
    t.equal(found?.ok, false, what);
    t.match(found?.detail, says, what);
  }
  const evidence = reminderEvidence();
  evidence.carrier!.errors.push({ atMs: 0, code: 31921, message: '31921' });
  t.equal(checkCall(evidence, PROTOCOL)[0]?.ok, false, 'where none is to break, one is a fault');
});

t.test('each way in which a call does not go on after a kill is told', async (t) => {
  const cases: [what: string, check: string, says: RegExp, spoil: (e: Evidence) => void][] = [
    ['nobody killed it', KILLED, /was not killed/, (e) => Object.assign(e, { killed: null })],
    [
      'it was long away',
      KILLED,
      /no connections for 5600 ms/,
      (e) => {
        e.killed!.atMs -= 4_000;
      },
    ],
    [
      'the agent never spoke again',
      KILLED,
      /nothing was heard for the rest of the call/,
      (e) => e.sounds.phone!.agent.fill(0, 22_000 * 8),
    ],
    [
      'and spoke late',
      KILLED,
      /nothing was heard for 1\d\d\d\d ms/,
      (e) => e.sounds.phone!.agent.fill(0, 22_000 * 8, 34_900 * 8),
    ],
    ['no other stream', KILLED, /there were 1 stream, not 2/, (e) => e.carrier!.streams.splice(1)],
    ['no gap is told', KILLED, /has 0 gaps, not 1/, (e) => Object.assign(e.call, { gaps: [] })],
    [
      'another reason is told',
      KILLED,
      /says it was stream_lost/,
      (e) => Object.assign(e.call.gaps[0]!, { why: 'stream_lost' }),
    ],
    [
      'the gap is told late',
      KILLED,
      /2000 ms from when it did/,
      (e) => Object.assign(e.call.gaps[0]!, { from_ms: 22_490 }),
    ],
    ['the gap is told open', KILLED, /told open/, (e) => Object.assign(e.call.gaps[0]!, { to_ms: null })],
    [
      'much of what was heard is not written down',
      KILLED,
      /10 words of the line were heard and 2 are written down/,
      (e) => {
        e.transcript.data.find(({ interrupted }) => interrupted)!.heard_text = 'Thank you,';
      },
    ],
    [
      'the agent did not say that it was cut off',
      KILLED,
      /said nothing of it/,
      (e) => Object.assign(e.sessions[1]!.responses[0]!, { say: '' }),
    ],
    [
      'the model was told more than was heard',
      KILLED,
      /told that .* Is there anything else\?" was heard/,
      (e) =>
        Object.assign(e.sessions[1]!.items[1]!, { believed_text: e.sessions[0]!.responses[1]!.say ?? '' }),
    ],
    ['it was not asked anew', PROTOCOL, /1 sessions/, (e) => e.sessions.splice(1)],
    ['frames of the second were lost', FRAMES, /arrived/, (e) => Object.assign(e.media!, { framesIn: 500 })],
  ];
  for (const [what, check, says, spoil] of cases) {
    const evidence = killedEvidence();
    spoil(evidence);
    const found = checkCall(evidence, check)[0];
    t.match(found, { ok: false, detail: says }, what);
  }
});

/** What each of the two may lack, and what is then told. */
const SAID_WRONG: [what: string, check: string, spoil: (e: Evidence) => void, told: RegExp][] = [
  ['no such line', SAID_FIRST, (e) => Object.assign(e.call, { disclosure: null }), /no such line/],
  ['a word unheard', SAID_FIRST, (e) => Object.assign(e.call.disclosure!, { heard_text: 'How' }), /"How"/],
  ['not complete', SAID_FIRST, (e) => Object.assign(e.call.disclosure!, { complete: false }), /complete/],
  ['something before it', SAID_FIRST, (e) => e.transcript.data.shift(), /does not begin/],
  [
    'told of another time',
    SAID_FIRST,
    (e) => Object.assign(e.call.disclosure!, { started_ms: 2_000 }),
    /first sound/,
  ],
  [
    'nobody over it',
    SAID_FIRST,
    (e) => Object.assign(e.carrier!.steps[0]!, { startedMs: 9_000, endedMs: 15_000 }),
    /nobody spoke/,
  ],
  [
    'lowered',
    SAID_FIRST,
    (e) => e.interruptions.push({ at_ms: 3_000, held_ms: 2_500, paused_ms: null, taken_back: true }),
    /lowered/,
  ],
  ['nothing noted', OPT_OUT, (e) => Object.assign(e.call, { opted_out: null }), /does not tell/],
  ['not on the list', OPT_OUT, (e) => Object.assign(e.doNotCall!, { entry: null }), /not on the/],
  [
    'on it for another call',
    OPT_OUT,
    (e) => Object.assign(e.doNotCall!.entry!, { call_id: 'other' }),
    /does not name/,
  ],
  [
    'not confirmed',
    OPT_OUT,
    (e) => Object.assign(e.transcript.data.at(-1)!, { heard_text: 'All right.', text: 'All right.' }),
    /not told/,
  ],
  ['called again', OPT_OUT, (e) => Object.assign(e.doNotCall!, { refused: null }), /placed/],
];

t.test('what is said first, and who wants no more calls', async (t) => {
  for (const [name, make] of [
    [SAID_FIRST, saidFirstEvidence],
    [OPT_OUT, optOutEvidence],
  ] as const)
    t.match(checkCall(make(), name), [{ ok: true }], name);
  for (const [what, name, spoil, told] of SAID_WRONG) {
    const evidence = (name === SAID_FIRST ? saidFirstEvidence : optOutEvidence)();
    spoil(evidence);
    t.match(checkCall(evidence, name), [{ ok: false, detail: told }], what);
  }
  t.same(checkCall(reminderEvidence(), SAID_FIRST), []);
});
