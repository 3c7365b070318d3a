// A call is here until what was said on it is stored, however long the store takes: its result is made of all of it. What the
// agent was saying when its media side was lost is said to have been cut, and what the caller had said, not to be made out.
import t from 'tap';
import { CallWords } from '../../../bridge/calls/call-words.ts';
import { toolLine } from '../../../bridge/calls/running-tools.ts';
import type { TurnLog } from '../../../bridge/calls/turn-log.ts';
import { UNINTELLIGIBLE } from '../../../bridge/protocol/agent-texts.ts';
import type { Store } from '../../../storage/store.ts';
import { makeItem, succeeded } from '../../storage/makers.ts';
import { type CallsRig, openCallsRig, START_MS, snapshot } from './calls-rig.ts';

const later = () => new Promise((done) => setImmediate(done));

/** The agent speaks a line of which nothing is known to be heard yet, behind one that was heard. */
async function speaking(rig: CallsRig): Promise<string> {
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  rig.atCarrier.set(carrierCallId, { ...rig.atCarrier.get(carrierCallId)!, status: 'answered' });
  const at = new Date(START_MS).toISOString();
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at, atMs: 0 });
  const line = { role: 'agent' as const, interrupted: false };
  const hello = { ...line, id: 'hello', text: 'Hello.', heardText: '', startMs: 0, endMs: null };
  const open = { ...line, id: 'open', text: 'How are you?', heardText: '', startMs: 900, endMs: null };
  const turn = {
    ...line,
    id: 'turn',
    role: 'caller' as const,
    text: '',
    heardText: '',
    startMs: 820,
    endMs: 890,
  };
  const items = [hello, { ...hello, heardText: 'Hello.', endMs: 800 }, turn, open];
  for (const item of items) rig.calls.onMedia({ type: 'transcript', callId: call.id, items: [item] });
  while ((await rig.store.listTranscript(call.id)).length < 3) await later();
  return call.id;
}

t.test('what waits for a line of its call that is being stored waits for nothing else', async (t) => {
  const stores: { ids: string[]; patient: boolean | undefined; done(): void }[] = [];
  const words = new CallWords(
    {
      store: {} as Store,
      turnLog: {} as TurnLog,
      observer: {},
      now: () => new Date(START_MS),
      transcripts(records, patience) {
        const { promise, resolve } = Promise.withResolvers<void>();
        stores.push({ ids: records.map(({ id }) => id), patient: patience?.patient, done: resolve });
        return promise.then(() => records);
      },
    },
    'call',
  );
  const say = (id: string) =>
    void words.said(
      [{ id, role: 'agent', text: 'Hello.', heardText: '', interrupted: false, startMs: 0, endMs: null }],
      null,
    );
  const told = () => stores.map(({ ids, patient }) => [ids.join(' '), patient]);
  say('first');
  await later();
  say('second');
  say('third');
  await later();
  t.same(told(), [['first', true]]);
  stores[0]?.done();
  await later();
  t.same(told().at(-1), ['second third', false]);
  stores[1]?.done();
  await later();
  say('fourth');
  await later();
  t.same(told().at(-1), ['fourth', true]);
});

const STATS = {
  framesIn: 0,
  framesOut: 0,
  filledMs: 0,
  duplicateFrames: 0,
  lateFrames: 0,
  malformedMessages: 0,
  bargeIns: 0,
  falseBargeIns: 0,
  falsePauses: 0,
  earlyAnswers: 0,
  thrownAwayAnswers: 0,
  recordingFrames: 0,
  recordingDropped: 0,
  lateTickMs: 0,
};
const CUT = [
  { id: 'hello', heard_text: 'Hello.', interrupted: false, end_ms: 800 },
  { id: 'turn', text: UNINTELLIGIBLE, heard_text: UNINTELLIGIBLE, interrupted: false, end_ms: 890 },
  { id: 'open', text: 'How are you?', heard_text: '', interrupted: true, end_ms: null },
];

t.test(
  'its media thread is lost while the agent speaks: the line was cut, and the next is told so',
  async (t) => {
    const rig = await openCallsRig(t);
    const id = await speaking(rig);
    rig.calls.onThreadLost([id]);
    while (rig.prepared.length < 2) await later();
    t.match(await rig.store.listTranscript(id), CUT);
    t.strictSame(rig.prepared[1]?.resumed?.talk, [
      { role: 'agent', text: 'Hello.' },
      { role: 'caller', text: UNINTELLIGIBLE },
    ]);
    t.match(await rig.store.findCall(id), {
      status: 'in_progress',
      gaps: [{ why: 'thread_lost', to_ms: null }],
    });
    const ends = async () => (await rig.store.listTranscript(id)).map(({ end_ms }) => end_ms);
    while ((await ends()).includes(null)) await later();
    t.ok(
      (await ends()).every((ms) => ms !== null),
      'and is not told as still being spoken',
    );
  },
);

t.test(
  'a tool runs while its media thread is lost: it is run once, and the next is told that it runs',
  async (t) => {
    const answer = Promise.withResolvers<{ ok: boolean; output: string }>();
    let runs = 0;
    const rig = await openCallsRig(t, {
      runTool() {
        runs++;
        return answer.promise;
      },
    });
    const id = await speaking(rig);
    const tool = { toolCallId: 'tool 1', name: 'order', argumentsJson: '{}', atMs: 900 };
    rig.calls.onMedia({ type: 'tool-called', callId: id, ...tool });
    while (runs === 0) await later();
    rig.calls.onThreadLost([id]);
    while (rig.prepared.length < 2) await later();
    t.match(rig.prepared[1]?.resumed?.unfinishedTools, [{ name: 'order', argumentsJson: '{}' }]);
    const lines = async () => (await rig.store.listTranscript(id)).filter(({ role }) => role === 'tool');
    t.strictSame(await lines(), [], 'nobody says that it will not answer');
    t.match(await rig.store.findCall(id), { running_tools: [{ tool_call_id: 'tool 1' }] });
    answer.resolve({ ok: true, output: 'ordered' });
    while ((await rig.store.findCall(id))?.running_tools.length !== 0) await later();
    t.match(await lines(), [{ text: /ordered/ }]);
    t.equal(runs, 1);
  },
);

t.test('a media thread that says what was heard, and lets go: what it says stands', async (t) => {
  const rig = await openCallsRig(t, { carried: true });
  const id = await speaking(rig);
  const hungUp = rig.calls.hangUp(rig.org, id);
  while ((await rig.store.findCall(id))?.status !== 'completed') await later();
  const line = { role: 'agent' as const, interrupted: true, startMs: 900, endMs: 1_100 };
  const items = [
    { ...line, id: 'open', text: 'How are you?', heardText: 'How' },
    { ...line, id: 'turn', role: 'caller' as const, text: 'Hi.', heardText: 'Hi.', startMs: 820, endMs: 890 },
  ];
  rig.calls.onMedia({ type: 'transcript', callId: id, items });
  rig.calls.onMedia({ type: 'released', callId: id, stats: STATS, recording: null });
  await hungUp;
  while (rig.calls.size > 0) await later();
  t.match(await rig.store.listTranscript(id), [
    CUT[0],
    { text: 'Hi.' },
    { heard_text: 'How', end_ms: 1_100 },
  ]);
});

t.test(
  'the process dies while the agent speaks: whoever ends the call says that the line was cut',
  async (t) => {
    const rig = await openCallsRig(t);
    const asked = { arguments_json: '{}', at_ms: 500 };
    const call = rig.newCall({
      carrier_call_id: 'CA9',
      answered_at: new Date(START_MS).toISOString(),
      running_tools: [
        { ...asked, tool_call_id: 'tool 1', name: 'look_up' },
        { ...asked, tool_call_id: 'tool 2', name: 'order' },
      ],
    });
    succeeded(await rig.store.createCall(call, { events: ['call.queued'], reserve: 30_000 }));
    succeeded(await rig.store.saveCall(call.id, { from: ['queued'], change: { status: 'in_progress' } }));
    const line = { role: 'agent' as const, interrupted: false };
    await rig.store.saveTranscript([
      makeItem(call.id, { ...line, id: 'hello', text: 'Hello.', heard_text: 'Hello.', end_ms: 800 }),
      makeItem(call.id, {
        id: 'turn',
        role: 'caller',
        text: '',
        heard_text: '',
        interrupted: false,
        start_ms: 820,
        end_ms: 890,
      }),
      makeItem(call.id, {
        ...line,
        id: 'open',
        text: 'How are you?',
        heard_text: '',
        start_ms: 900,
        end_ms: null,
      }),
      makeItem(call.id, {
        id: 'tool',
        role: 'tool',
        text: toolLine({ name: 'look_up', arguments: '{}', ok: true, output: 'done' }),
        heard_text: '',
        start_ms: 500,
        end_ms: null,
      }),
    ]);
    rig.atCarrier.set('CA9', snapshot({ carrierCallId: 'CA9', status: 'completed' }));
    await rig.calls.recover(await rig.store.unfinishedCalls());
    while (rig.calls.size > 0) await later();
    t.match(await rig.store.findCall(call.id), {
      status: 'failed',
      hangup_cause: 'daemon_restart',
      running_tools: [],
    });
    const told = await rig.store.listTranscript(call.id);
    t.match(
      told.filter(({ role }) => role !== 'tool'),
      CUT,
    );
    t.match(
      told.filter(({ role }) => role === 'tool').map(({ text }) => JSON.parse(text)),
      [
        { name: 'look_up', ok: true },
        { name: 'order', arguments: '{}', ok: false, output: /not known/ },
      ],
      'a tool that ran is told as unfinished, once',
    );
  },
);

t.test('hung up while its last words are being stored: let go of after them', async (t) => {
  const rig = await openCallsRig(t);
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  rig.atCarrier.set(carrierCallId, { ...rig.atCarrier.get(carrierCallId)!, status: 'answered' });
  const at = new Date(START_MS).toISOString();
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at, atMs: 0 });
  const { promise: stored, resolve: store } = Promise.withResolvers<void>();
  const { saveTranscript } = rig.store;
  rig.store.saveTranscript = async (items) => {
    await stored;
    return saveTranscript(items);
  };
  rig.calls.onMedia({
    type: 'transcript',
    callId: call.id,
    items: [
      {
        id: 'last',
        role: 'caller',
        text: 'Goodbye.',
        heardText: 'Goodbye.',
        interrupted: false,
        startMs: 0,
        endMs: 500,
      },
    ],
  });
  // Who hangs up does not wait for the words; it is the call that stays.
  const hungUp = rig.calls.hangUp(rig.org, call.id);
  while ((await rig.store.findCall(call.id))?.status !== 'completed')
    await new Promise((later) => setImmediate(later));
  await new Promise((later) => setImmediate(later));
  t.equal(rig.calls.live().length, 1, 'it is over, and not final');
  t.equal((await rig.store.findCall(call.id))?.result_status, 'pending');
  store();
  await hungUp;
  while (rig.calls.size > 0) await new Promise((later) => setImmediate(later));
  t.match(await rig.store.listTranscript(call.id), [{ id: 'last', text: 'Goodbye.' }]);
  while ((await rig.store.findCall(call.id))?.result_status === 'pending')
    await new Promise((later) => setImmediate(later));
  t.match((await rig.store.listEvents(call.id)).at(-1), { type: 'call.completed' });
});

t.test(
  'its last words show that the call is of another owner: let go of, and settled by that one',
  async (t) => {
    const { promise: asked, resolve: ask } = Promise.withResolvers<void>();
    const rig = await openCallsRig(t, {
      // It is ended as the call begins to let go.
      runTool: ({ signal }) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            ask();
            resolve({ ok: false, output: 'canceled' });
          });
        }),
    });
    const call = await rig.calls.dispatch(rig.newCall());
    const { findCall } = rig.store;
    let isAsked = false;
    rig.store.saveTranscript = async () => {
      await asked;
      isAsked = true;
      return [call.id];
    };
    // From then on what the call asks about itself is answered later than its words are.
    rig.store.findCall = async (id) => {
      for (let turn = 0; isAsked && turn < 50; turn++) await later();
      return findCall(id);
    };
    const carrierCallId = call.carrier_call_id ?? '';
    rig.atCarrier.set(carrierCallId, { ...rig.atCarrier.get(carrierCallId)!, status: 'answered' });
    const at = new Date(START_MS).toISOString();
    rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at, atMs: 0 });
    const tool = { toolCallId: 'tool 1', name: 'look_up', argumentsJson: '{}', atMs: 700 };
    rig.calls.onMedia({ type: 'tool-called', callId: call.id, ...tool });
    const said = { role: 'caller' as const, text: 'Goodbye.', heardText: 'Goodbye.', interrupted: false };
    const items = [{ ...said, id: 'last', startMs: 0, endMs: 500 }];
    rig.calls.onMedia({ type: 'transcript', callId: call.id, items });
    const hungUp = rig.calls.hangUp(rig.org, call.id);
    while (rig.calls.size > 0) await later();
    await hungUp;
    for (let turn = 0; turn < 100; turn++) await later();
    t.match(await rig.store.findCall(call.id), { status: 'completed', result_status: 'pending' });
    t.notOk((await rig.store.listEvents(call.id)).some(({ type }) => type === 'call.completed'));
  },
);

t.test('ended while a tool runs: let go of after the note of what the tool answered', async (t) => {
  const running: unknown[] = [];
  const rig = await openCallsRig(t, {
    runTool: ({ call, signal }) =>
      new Promise((resolve) => {
        void rig.store.findCall(call.id).then((row) => running.push(row?.running_tools));
        signal.addEventListener('abort', () => setImmediate(resolve, { ok: false, output: 'canceled' }));
      }),
  });
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  const at = new Date(START_MS).toISOString();
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at, atMs: 0 });
  const tool = { toolCallId: 'tool 1', name: 'look_up', argumentsJson: '{}', atMs: 700 };
  rig.calls.onMedia({ type: 'tool-called', callId: call.id, ...tool });
  while (running.length === 0) await new Promise((later) => setImmediate(later));
  t.match(running, [[{ tool_call_id: 'tool 1', name: 'look_up', at_ms: 700 }]], 'written before it runs');
  await rig.calls.hangUp(rig.org, call.id);
  while (rig.calls.size > 0) await new Promise((later) => setImmediate(later));
  t.match(await rig.store.findCall(call.id), { running_tools: [] });
  t.match(await rig.store.listTranscript(call.id), [{ role: 'tool', start_ms: 700, text: /canceled/ }]);
});

t.test('words are timed by when the stream began, though that is still being written', async (t) => {
  const rig = await openCallsRig(t);
  const call = await rig.calls.dispatch(rig.newCall());
  const carrierCallId = call.carrier_call_id ?? '';
  const { saveCall } = rig.store;
  const written = Promise.withResolvers<void>();
  rig.store.saveCall = async (id, o) => {
    await written.promise;
    return saveCall(id, o);
  };
  const at = new Date(START_MS - 500).toISOString();
  rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at, atMs: 0 });
  const item = { role: 'caller', text: 'Yes.', heardText: 'Yes.', interrupted: false } as const;
  for (const [id, startMs] of [
    ['first', 100],
    ['second', 200],
  ] as const)
    rig.calls.onMedia({
      type: 'transcript',
      callId: call.id,
      items: [{ id, ...item, startMs, endMs: startMs + 50 }],
    });
  for (let turns = 0; turns < 10; turns++) await new Promise((later) => setImmediate(later));
  t.same(await rig.store.listTranscript(call.id), [], 'in their turn');
  written.resolve();
  while ((await rig.store.listTranscript(call.id)).length < 2)
    await new Promise((later) => setImmediate(later));
  t.match(await rig.store.listTranscript(call.id), [
    { id: 'first', started_at: new Date(START_MS - 400).toISOString() },
    { id: 'second', started_at: new Date(START_MS - 300).toISOString() },
  ]);
});

t.test('what is newer of a line is stored when what is older is, and together', async (t) => {
  const asked: { texts: string[]; done: () => void }[] = [];
  const shown: string[] = [];
  const words = new CallWords(
    {
      store: { flush: async () => {} } as unknown as Store,
      transcripts: (records) =>
        new Promise((stored) =>
          asked.push({ texts: records.map(({ text }) => text), done: () => stored(records) }),
        ),
      turnLog: { flush: async () => {} } as unknown as TurnLog,
      observer: { words: (_callId, items) => shown.push(...items.map(({ text }) => text)) },
      now: () => new Date(START_MS),
    },
    'a',
  );
  const say = (id: string, text: string) => {
    const line = { id, role: 'caller', text, heardText: text, interrupted: false } as const;
    return words.said([{ ...line, startMs: 0, endMs: 1 }], null);
  };
  const first = say('one', 'as it began');
  await later();
  const rest = Promise.all([say('one', 'as it ended'), say('two', 'another')]);
  await later();
  t.same(asked[0]?.texts, ['as it began']);
  t.equal(asked.length, 1, 'it waits');
  asked[0]?.done();
  await first;
  await later();
  t.same(asked[1]?.texts, ['as it ended', 'another']);
  t.same(shown, ['as it began'], 'shown as it is stored');
  asked[1]?.done();
  await rest;
  t.same(shown, ['as it began', 'as it ended', 'another']);
});

t.test(
  'words and usage share a commit while the call talks, and at its end nobody waits for them',
  async (t) => {
    const rig = await openCallsRig(t, { carried: true });
    const call = await rig.calls.dispatch(rig.newCall());
    const carrierCallId = call.carrier_call_id ?? '';
    rig.atCarrier.set(carrierCallId, { ...rig.atCarrier.get(carrierCallId)!, status: 'answered' });
    const at = new Date(START_MS).toISOString();
    rig.calls.onMedia({ type: 'media-started', callId: call.id, streamId: 's', carrierCallId, at, atMs: 0 });
    while ((await rig.store.findCall(call.id))?.status !== 'in_progress') await later();
    const patient: string[] = [];
    const prompt: string[] = [];
    const { saveCall, saveTranscript } = rig.store;
    rig.store.saveCall = (id, change, patience) => {
      (patience?.patient ? patient : prompt).push(Object.keys(change.change).join());
      return saveCall(id, change, patience);
    };
    rig.store.saveTranscript = (items, patience) => {
      (patience?.patient ? patient : prompt).push(...items.map(({ id }) => id));
      return saveTranscript(items, patience);
    };
    const say = (id: string, startMs: number) => {
      const line = { id, role: 'caller', text: 'Yes.', heardText: 'Yes.', interrupted: false } as const;
      rig.calls.onMedia({
        type: 'transcript',
        callId: call.id,
        items: [{ ...line, startMs, endMs: startMs + 1 }],
      });
    };
    rig.calls.onMedia({ type: 'usage', callId: call.id, usage: { input_text_tokens: 5 } });
    say('first', 0);
    while (patient.length + prompt.length < 2) await later();
    t.same(patient.sort(), ['first', 'usage']);
    t.same(prompt, []);
    const hungUp = rig.calls.hangUp(rig.org, call.id);
    while ((await rig.store.findCall(call.id))?.status !== 'completed') await later();
    rig.calls.onMedia({ type: 'usage', callId: call.id, usage: { input_text_tokens: 2 } });
    rig.calls.onMedia({ type: 'released', callId: call.id, stats: STATS, recording: null });
    say('last', 900);
    await hungUp;
    while (rig.calls.size > 0) await later();
    t.match(await rig.store.findCall(call.id), { usage: { input_text_tokens: 7 } });
    t.match(await rig.store.listTranscript(call.id), [{ id: 'first' }, { id: 'last' }]);
  },
);
