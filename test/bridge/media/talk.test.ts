// The conversation between a held model and a held carrier: what it tells each, in which order, on heard time.

import t from 'tap';
import { BYTES_PER_MS, FRAME_BYTES, FRAME_MS, MULAW_8K } from '../../../audio/format.ts';
import { PREROLL_MS } from '../../../bridge/media/caller-feed.ts';
import type {
  CutItem,
  ModelCapabilities,
  ModelListener,
  ModelSession,
} from '../../../bridge/models/model.ts';
import type { FromMedia, PrepareCall, Tuning } from '../../../bridge/protocol/messages.ts';
import { HOLD_RULES } from '../../../bridge/turns/hold.ts';
import { TURN_RULES } from '../../../bridge/turns/turns.ts';
import { SESSION_TEXTS, talkTexts } from '../../../control/agents/texts/moments.ts';
import { TURN_BY_TURN } from '../models/capabilities.ts';
import { openTalkParts } from './talk-rig.ts';

const PLAN: PrepareCall = {
  callId: 'call-1',
  carrier: 'held',
  tokenHash: '',
  direction: 'outbound',
  modelName: 'held',
  model: {
    url: '',
    apiKey: '',
    model: '',
    transcriptionModel: null,
    instructions: '',
    voice: '',
    language: null,
    tools: ['end_call', 'transfer_call', 'send_dtmf'].map((name) => ({
      name,
      description: '',
      parameters: { type: 'object' },
    })),
    texts: SESSION_TEXTS,
  },
  texts: {
    ...talkTexts('outbound', null),
    greeting: 'Greet.',
    idle: ['one', 'two', 'last'],
    voicemail: 'Leave a message.',
  },
  machine: 'none',
  disclosure: null,
  mayOptOut: false,
  shortWords: { assents: ['mhm', 'okay'], stops: ['stop', 'no'] },
  patience: 1,
  tuning: { patience: 'normal', eagerness: 'normal', interruption: 'normal' },
  transferTargets: { sales: '+15550001' },
  recordingPath: null,
  maxSeconds: 60,
  resumed: null,
};

function open(change: Partial<PrepareCall> = {}, can: Partial<ModelCapabilities> = {}) {
  let nowMs = 0;
  let serial = 0;
  let turn = 0;
  const posted: FromMedia[] = [];
  const verbs: unknown[][] = [];
  const model = { busy: false };
  let listener: ModelListener | undefined;
  const session: ModelSession = {
    capabilities: { ...TURN_BY_TURN, ...can },
    takes: MULAW_8K,
    gives: MULAW_8K,
    open: () => verbs.push(['open']),
    appendAudio: (payload) => verbs.push(['append', payload.length]),
    clearAudio: () => verbs.push(['clear-audio']),
    endTurn: () => {
      verbs.push(['commit']);
      return turn++;
    },
    respond: (o) => {
      verbs.push(['respond', o?.instructions ?? null]);
      listener?.requested();
      model.busy = true;
    },
    say: (line) => verbs.push(['say', line]),
    interrupt: (cut: readonly CutItem[]) => verbs.push(['interrupt', cut]),
    takeBack: (answer) => {
      verbs.push(['take-back', answer]);
      model.busy = false;
    },
    addText: (role, text) => verbs.push(['add-text', role, text]),
    sendToolResult: (id, output) => verbs.push(['tool-result', id, output]),
    busy: () => model.busy,
    close: async () => void verbs.push(['close']),
  };
  let marks: string[] = [];
  let takes = false;
  let paceMs = 0;
  const { talk, voice, floor, record } = openTalkParts(
    { ...PLAN, ...change },
    {
      openModel(_config, given) {
        listener = given;
        return session;
      },
      post: (message) => posted.push(structuredClone(message)),
      now: () => nowMs,
      newId: () => `id-${++serial}`,
      line: {
        look: () => (takes ? 'open' : 'slow'),
        mark: (name) => marks.push(name),
        clear: () => verbs.push(['clear-carrier']),
      },
    },
  );
  if (listener === undefined) throw new Error('the model was not opened');
  const model2 = listener;
  const at = (ms: number) => {
    nowMs = ms;
    return rig;
  };
  const rig = {
    talk,
    model: model2,
    verbs,
    posted,
    at,
    record,
    voice: () => floor.agentVoice,
    /** The carrier takes all that is ready, or what it is due in so many milliseconds; answers the marks it owes. */
    play(ms = 60_000): string[] {
      takes = true;
      const untilMs = paceMs + ms;
      for (let idle = 0; idle < 20 && paceMs <= untilMs; paceMs += FRAME_MS) {
        const before = voice.frames;
        voice.pace(paceMs);
        idle = voice.frames === before ? idle + 1 : 0;
      }
      takes = false;
      const owed = marks;
      marks = [];
      return owed;
    },
    tick: () => talk.tick(nowMs, nowMs),
    /** The caller's sound, whatever it is. */
    hears(fromMs: number, toMs: number) {
      for (let atMs = fromMs; atMs < toMs; atMs += FRAME_MS)
        talk.callerAudio(Buffer.alloc(FRAME_BYTES), atMs);
    },
    /** The model speaks a line of so many milliseconds, and the response ends. */
    speaks(itemId: string, text: string, ms: number) {
      model2.audio(itemId, Buffer.alloc(ms * 8, 1));
      model2.text(itemId, text);
      model2.textDone(itemId, text);
      model2.audioDone(itemId);
      model.busy = false;
      model2.responseDone({
        responseId: 'r',
        status: 'completed',
        reason: null,
        hadAudio: true,
        toolCalls: 0,
      });
    },
    idle: () => {
      model.busy = false;
    },
    lines: () => [
      ...new Map(
        posted.flatMap((m) => (m.type === 'transcript' ? m.items : [])).map((item) => [item.id, item]),
      ).values(),
    ],
    finished: () => posted.find((m) => m.type === 'finished'),
    did: (verb: string) => verbs.filter(([name]) => name === verb),
  };
  return rig;
}

type Rig = ReturnType<typeof open>;

function greeted(can: Partial<ModelCapabilities> = {}, change: Partial<PrepareCall> = {}) {
  const rig = open(change, can);
  rig.model.ready({ renewed: false, tookMs: 5 });
  rig.at(100).talk.streamStarted(MULAW_8K);
  rig.at(400).speaks('greeting', 'Hello there, how are you today?', 2_000);
  return rig;
}

t.test('the model is opened at once and asked only when the stream is there', async (t) => {
  const rig = open();
  rig.model.ready({ renewed: false, tookMs: 5 });
  t.same(rig.verbs, [['open']]);
  rig.talk.streamStarted(MULAW_8K);
  t.same(rig.verbs.at(-1), ['respond', 'Greet.']);
});

t.test('a line is heard as its marks come, not when it was sent, and over with the last', async (t) => {
  const rig = greeted();
  const marks = rig.play();
  t.equal(rig.lines()[0]?.heardText, '');
  for (const mark of marks.slice(0, -1)) rig.talk.markBack(mark);
  t.match(rig.lines()[0], { heardText: 'Hello there, how are you', interrupted: false, endMs: null });
  rig.at(2_500).talk.markBack(marks.at(-1) ?? '');
  t.match(rig.lines()[0], {
    role: 'agent',
    heardText: 'Hello there, how are you today?',
    interrupted: false,
    endMs: 2_500,
  });
  t.match(rig.posted.filter((m) => m.type === 'floor').at(-1), { floor: 'none' });
});

t.test(
  'what is heard of a line is told while it is, word by word, before the model has said all',
  async (t) => {
    const rig = greeted();
    rig.at(2_500);
    for (const mark of rig.play()) rig.talk.markBack(mark);
    const before = rig.posted.length;
    const text = 'We are open from nine to five on every weekday, and closed on Sundays.';
    rig.model.text('late', text);
    rig.model.audio('late', Buffer.alloc(4_000 * 8, 1));
    const wordsAt: number[] = [];
    let words = 0;
    for (const [n, mark] of rig.play().entries()) {
      const known = rig.posted.length;
      rig.at(2_600 + 100 * n).talk.markBack(mark);
      for (const message of rig.posted.slice(known)) {
        if (message.type !== 'transcript') continue;
        const [line] = message.items;
        t.match(line, { text, interrupted: false, endMs: null });
        t.ok(text.startsWith(line?.heardText ?? '?'));
        t.ok((line?.heardText ?? '').split(' ').length > words, 'each time a word more');
        words = (line?.heardText ?? '').split(' ').length;
      }
      wordsAt.push(words);
    }
    const told = rig.posted.slice(before).filter(({ type }) => type === 'transcript');
    t.ok(told.length >= 8, `told ${told.length} times`);
    // By this voice's pace no word takes 500 ms: with it and the one that is being said, what is told is never behind by more.
    for (const [n, some] of wordsAt.entries())
      t.ok(some >= (100 * (n + 1)) / 500 - 2, `${some} words after ${100 * (n + 1)} ms`);
    t.ok(words >= 9);
  },
);

t.test('barge-in: carrier cleared, model told what was heard, late marks prove nothing', async (t) => {
  const rig = greeted();
  const marks = rig.play();
  for (const mark of marks.slice(0, 8)) rig.talk.markBack(mark);
  rig.hears(0, 1_600);
  rig.at(1_600).talk.voice({ is: 'starting', onsetMs: 1_500 });
  t.equal(rig.voice(), 'ducked');
  rig.at(1_700).talk.speechStarted(1_500);
  t.same(rig.did('interrupt'), [], 'not before it has lasted');
  rig.at(1_500 + HOLD_RULES.confirmMs).tick();
  t.equal(rig.voice(), 'full');
  const names = rig.verbs.map(([name]) => name);
  t.ok(names.indexOf('clear-carrier') < names.indexOf('interrupt'));
  t.same(rig.did('interrupt'), [
    ['interrupt', [{ itemId: 'greeting', heardMs: 960, heardText: 'Hello there,' }]],
  ]);
  t.match(rig.lines()[0], {
    interrupted: true,
    heardText: 'Hello there,',
    text: 'Hello there, how are you today?',
  });
  t.equal(rig.record.bargeIns, 1);
  for (const mark of marks) rig.talk.markBack(mark);
  t.equal(rig.lines()[0]?.heardText, 'Hello there,');
  t.same(
    rig.did('append'),
    [['append', (1_600 - 1_500 + PREROLL_MS) * BYTES_PER_MS]],
    'from before the onset',
  );
  rig.hears(1_600, 1_620);
  t.same(rig.did('append').at(-1), ['append', FRAME_BYTES], 'and on');
});

t.test(
  'a hold that is taken back: the model knows of nothing, and it is told with its moments',
  async (t) => {
    const rig = greeted();
    rig.at(900).talk.voice({ is: 'starting', onsetMs: 850 });
    t.equal(rig.voice(), 'ducked');
    rig.at(1_050).talk.speechStarted(850);
    rig.at(1_400).talk.speechEnded(1_150);
    t.equal(rig.voice(), 'ducked', 'more words may follow');
    rig.at(1_600).tick();
    t.equal(rig.voice(), 'full');
    t.same([rig.did('interrupt'), rig.did('clear-carrier'), rig.did('append')], [[], [], []]);
    t.match(rig.posted.at(-1), {
      type: 'hold-taken-back',
      onsetMs: 850,
      heldMs: 900,
      pausedMs: null,
      resumedMs: 1_600,
    });
    t.same([rig.record.falseBargeIns, rig.record.falsePauses], [1, 0]);
    for (const mark of rig.play()) rig.talk.markBack(mark);
    t.match(rig.lines()[0], { interrupted: false, heardText: 'Hello there, how are you today?' });
  },
);

/** The agent greets, and half of it was heard; a word of 300 ms is said over it from 1,000 ms on. */
function wordOver(
  can: Partial<ModelCapabilities> = { transcribes: true },
  change: Partial<PrepareCall> = {},
) {
  const rig = greeted(can, change);
  const marks = rig.play();
  for (const mark of marks.slice(0, 8)) rig.talk.markBack(mark);
  rig.hears(0, 1_540);
  rig.at(1_080).talk.voice({ is: 'starting', onsetMs: 1_000 });
  rig.at(1_120).talk.voice({ is: 'speaking', onsetMs: 1_000, stoppedMs: 0 });
  rig.talk.speechStarted(1_000);
  rig.at(1_540).talk.voice({ is: 'quiet' });
  rig.talk.speechEnded(1_300);
  return {
    ...rig,
    marks,
    words: () => rig.posted.flatMap((m) => (m.type === 'short-word' ? [m.became] : [])),
    spoken: () => rig.lines().filter(({ role }) => role === 'caller'),
  };
}

t.test(
  'a word that stops: given to the model by itself, and when its words come the agent is cut',
  async (t) => {
    const rig = wordOver();
    t.same(rig.verbs.slice(-2), [['append', (1_540 - 1_000 + PREROLL_MS) * BYTES_PER_MS], ['commit']]);
    t.equal(rig.did('respond').length, 1, 'nothing is asked but the greeting');
    rig.at(1_900).tick();
    t.equal(rig.voice(), 'full', 'the agent goes on meanwhile');
    rig.hears(1_540, 2_100);
    t.equal(rig.did('append').length, 1, 'and the model is given nothing more');
    t.same(rig.spoken(), [], 'no line before there are words');
    rig.at(2_100).model.callerText(0, 'Stop!');
    t.match(rig.verbs.slice(-3), [
      ['clear-carrier'],
      ['interrupt', [{ itemId: 'greeting', heardMs: 960 }]],
      ['respond', /broken in/],
    ]);
    t.match(rig.spoken(), [{ text: 'Stop!', startMs: 1_000, endMs: 1_300 }]);
    t.match(rig.lines()[0], { interrupted: true, heardText: 'Hello there,' });
    t.equal(rig.record.bargeIns, 1);
    t.same(rig.words(), ['stopped']);
    t.match(
      rig.posted.find((m) => m.type === 'barge-in'),
      { atMs: 2_100, onsetMs: 1_000 },
    );
  },
);

t.test('an assent is a line, and the agent goes on; what has no words is none', async (t) => {
  for (const [text, became, lines] of [
    ['Mhm.', 'go-on', ['Mhm.']],
    [null, 'nothing', []],
    ['', 'nothing', []],
    ['(coughs)', 'nothing', []],
    ['Hello there', 'go-on', ['Hello there']],
  ] as const) {
    const rig = wordOver();
    rig.at(2_100).model.callerText(0, text);
    t.same(rig.did('interrupt'), []);
    t.same(rig.did('clear-carrier'), []);
    t.equal(rig.did('respond').length, 1);
    t.same(rig.words(), [became], `${text}`);
    t.same(
      rig.spoken().map((line) => line.text),
      lines,
    );
    for (const mark of rig.marks) rig.talk.markBack(mark);
    t.match(rig.lines()[0], { interrupted: false });
  }
});

t.test('an agent that talks on is stopped by a word only if it means stop', async (t) => {
  const hard: Tuning = { ...PLAN.tuning, interruption: 'hard' };
  const says = (text: string, tuning = PLAN.tuning) => {
    const rig = wordOver({ transcribes: true }, { tuning });
    rig.at(2_100).model.callerText(0, text);
    return rig.words();
  };
  t.same(says('Thursday?'), ['stopped']);
  t.same(says('Thursday?', hard), ['go-on']);
  t.same(says('Stop!', hard), ['stopped']);
});

t.test('a paused voice waits for a word as long as those before it took', async (t) => {
  const rig = wordOver();
  rig.at(2_300).model.callerText(0, 'Mhm.');
  const over = (onsetMs: number) => {
    rig.at(onsetMs + 80).talk.voice({ is: 'starting', onsetMs });
    rig.at(onsetMs + 120).talk.voice({ is: 'speaking', onsetMs, stoppedMs: 0 });
    rig.talk.speechStarted(onsetMs);
    rig.at(onsetMs + 600).tick();
    rig.at(onsetMs + 800).talk.voice({ is: 'quiet' });
    rig.talk.speechEnded(onsetMs + 600);
  };
  over(3_000);
  rig.at(3_800 + 759).tick();
  t.equal(rig.voice(), 'paused');
  rig.at(3_800 + 760).tick();
  t.equal(rig.voice(), 'full', 'the first word took 760 ms');
});

t.test('words that come too late, or twice, stop nothing', async (t) => {
  const rig = wordOver();
  rig.at(1_540 + TURN_RULES.wordWithinMs + 1).model.callerText(0, 'Stop!');
  t.same(rig.did('interrupt'), []);
  t.same(rig.words(), ['late']);
  rig.model.callerText(0, 'Stop!');
  t.same(rig.words(), ['late']);
  t.equal(rig.spoken().length, 1, 'said it was');
});

t.test('who goes on after the word: two turns of the model, one answer, and nothing twice', async (t) => {
  const rig = wordOver();
  rig.at(1_800).talk.voice({ is: 'speaking', onsetMs: 1_700, stoppedMs: 0 });
  rig.talk.speechStarted(1_700);
  rig.hears(1_540, 2_000);
  rig.at(2_000).model.callerText(0, 'No!');
  t.same(rig.did('append').at(-1), ['append', (2_000 - 1_540) * BYTES_PER_MS], 'from after the word');
  t.equal(rig.did('respond').length, 1, 'he is listened to first');
  rig.hears(2_000, 2_700);
  rig.at(2_700).talk.speechEnded(2_600);
  rig.hears(2_700, 3_300);
  rig.at(3_300).tick();
  t.match(rig.verbs.slice(-2), [['commit'], ['respond', null]]);
  t.match(rig.spoken(), [
    { text: 'No!', startMs: 1_000, endMs: 1_300 },
    { startMs: 1_700, endMs: 2_600 },
  ]);
});

t.test('a word at the very end of what was said is answered, and not given again', async (t) => {
  const rig = wordOver();
  for (const mark of rig.marks) rig.at(2_000).talk.markBack(mark);
  t.equal(rig.did('commit').length, 1);
  t.match(rig.verbs.at(-1), ['respond', null]);
  rig.at(2_200).model.callerText(0, 'Fine.');
  t.same(rig.words(), ['late']);
  t.equal(rig.did('respond').length, 2);
});

t.test(
  'a last word of which nobody knows what it was is answered; where nothing was said, nothing is',
  async (t) => {
    for (const [text, asked] of [
      [null, 2],
      ['', 1],
    ] as const) {
      const rig = wordOver();
      rig.at(1_700).model.callerText(0, text);
      for (const mark of rig.marks) rig.at(2_000).talk.markBack(mark);
      t.equal(rig.did('respond').length, asked, `${text}`);
    }
  },
);

t.test(
  'no word is given to a model that takes no turns, answers by itself, or writes nothing down',
  async (t) => {
    for (const can of [
      { transcribes: false },
      { transcribes: true, answersByItself: true },
      { transcribes: true, commits: false },
      { transcribes: true, turns: 'model' },
    ] as Partial<ModelCapabilities>[]) {
      const rig = wordOver(can);
      t.same(rig.did('commit'), [], JSON.stringify(can));
    }
  },
);

t.test('speech that lasts pauses the voice, and may be nothing all the same', async (t) => {
  const rig = greeted();
  rig.at(900).talk.voice({ is: 'starting', onsetMs: 850 });
  rig.at(1_050).talk.voice({ is: 'speaking', onsetMs: 850, stoppedMs: 0 });
  rig.at(1_050).talk.speechStarted(850);
  t.equal(rig.voice(), 'ducked');
  const lastsMs = 850 + HOLD_RULES.pauseMs;
  rig.at(lastsMs).tick();
  t.equal(rig.voice(), 'paused');
  rig.at(lastsMs + 200).talk.voice({ is: 'quiet' });
  rig.at(lastsMs + 200).talk.speechEnded(lastsMs);
  rig.at(lastsMs + HOLD_RULES.quietMs).tick();
  t.equal(rig.voice(), 'full');
  t.match(rig.posted.at(-1), { type: 'hold-taken-back', heldMs: 900, pausedMs: lastsMs });
  t.same([rig.record.falseBargeIns, rig.record.falsePauses], [1, 1]);
});

t.test('a barge-in is told with its moments', async (t) => {
  const rig = greeted();
  const marks = rig.play();
  for (const mark of marks) rig.at(1_650).talk.markBack(mark);
  rig.at(1_700).model.audio('more', Buffer.alloc(8_000, 1));
  const before = rig.play(2 * FRAME_MS);
  rig.at(1_700).talk.voice({ is: 'starting', onsetMs: 1_600 });
  rig.at(1_720).talk.voice({ is: 'speaking', onsetMs: 1_600, stoppedMs: 0 });
  const lastsMs = 1_600 + HOLD_RULES.pauseMs;
  rig.at(lastsMs).tick();
  const [mark] = rig.play();
  t.same(before.includes(mark ?? ''), false);
  t.ok(mark, 'all that was sent is marked, however little');
  rig.at(lastsMs + 60).talk.markBack(mark ?? '');
  rig.at(lastsMs + 80).talk.speechStarted(1_600);
  const stopsMs = 1_600 + HOLD_RULES.confirmMs;
  rig.at(stopsMs).tick();
  t.match(
    rig.posted.find((m) => m.type === 'barge-in'),
    { atMs: stopsMs, onsetMs: 1_600, heldMs: 1_700, pausedMs: lastsMs, silencedMs: lastsMs + 60 },
  );
});

t.test('speech before a sound was heard takes the turn back and counts as no barge-in', async (t) => {
  const rig = greeted();
  rig.at(450).talk.speechStarted(300);
  rig.at(300 + HOLD_RULES.confirmMs).tick();
  t.equal(rig.record.bargeIns, 0);
  t.match(rig.did('interrupt'), [['interrupt', [{ itemId: 'greeting', heardMs: 0, heardText: '' }]]]);
});

t.test("the caller's words come late and land in their own turn", async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.talk.markBack(mark);
  rig.at(3_200).talk.speechStarted(3_000);
  rig.hears(3_200, 3_220);
  rig.at(4_200).talk.speechEnded(4_000);
  rig.at(4_700).tick();
  t.match(rig.verbs.slice(-2), [['commit'], ['respond', null]]);
  rig.at(5_000).speaks('answer', 'Fine.', 500);
  rig.model.callerText(0, 'I am well.');
  const caller = rig.lines().find((line) => line.role === 'caller');
  t.match(caller, { text: 'I am well.', startMs: 3_000, endMs: 4_000 });
  rig.model.callerText(7, 'from nowhere');
  t.equal(rig.lines().filter((line) => line.role === 'caller').length, 1);
});

t.test('end_call waits until the goodbye was heard', async (t) => {
  const rig = open();
  rig.model.ready({ renewed: false, tookMs: 5 });
  rig.talk.streamStarted(MULAW_8K);
  rig.model.audio('bye', Buffer.alloc(800 * 8, 1));
  rig.model.toolCall({ toolCallId: 't1', name: 'end_call', argumentsJson: '{}' });
  rig.speaks('bye', 'Goodbye.', 0);
  t.equal(rig.finished(), undefined);
  const marks = rig.play();
  for (const mark of marks.slice(0, -1)) rig.talk.markBack(mark);
  t.equal(rig.finished(), undefined);
  rig.talk.markBack(marks.at(-1) ?? '');
  t.match(rig.finished(), { reason: 'agent_ended', errorCode: null, speak: null });
});

t.test(
  'end_call while something is due that never comes: the call ends as soon as nothing is due',
  async (t) => {
    const rig = open();
    rig.model.ready({ renewed: false, tookMs: 5 });
    rig.talk.streamStarted(MULAW_8K);
    // The greeting was asked for; the model calls the tool, and the response comes to nothing without a word.
    rig.model.toolCall({ toolCallId: 't1', name: 'end_call', argumentsJson: '{}' });
    rig.tick();
    t.equal(rig.finished(), undefined, 'its last words may still come');
    rig.idle();
    rig.tick();
    t.match(rig.finished(), { reason: 'agent_ended' });
  },
);

t.test(
  'transfer: an unknown target is told to the model, a known one after the last heard word',
  async (t) => {
    const rig = greeted();
    rig.model.toolCall({ toolCallId: 't1', name: 'transfer_call', argumentsJson: '{"target":"__proto__"}' });
    t.match(rig.did('tool-result')[0]?.[2], /no such transfer target/);
    rig.model.toolCall({ toolCallId: 't2', name: 'transfer_call', argumentsJson: '{"target":"sales"}' });
    t.notOk(rig.posted.some((m) => m.type === 'transfer-requested'));
    rig.idle();
    for (const mark of rig.play()) rig.talk.markBack(mark);
    t.match(
      rig.posted.find((m) => m.type === 'transfer-requested'),
      { number: '+15550001', target: 'sales' },
    );
  },
);

t.test('tools: each result is sent once, and one answer follows the last', async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.talk.markBack(mark);
  rig.model.toolCall({ toolCallId: 'a', name: 'look_up', argumentsJson: '{}' });
  rig.model.toolCall({ toolCallId: 'b', name: 'look_up', argumentsJson: '{}' });
  const before = rig.did('respond').length;
  rig.talk.toolResult('a', 'one');
  t.equal(rig.did('respond').length, before);
  rig.talk.toolResult('b', 'two');
  rig.talk.toolResult('b', 'two');
  t.equal(rig.did('respond').length, before + 1);
  t.same(rig.did('tool-result'), [
    ['tool-result', 'a', 'one'],
    ['tool-result', 'b', 'two'],
  ]);
});

t.test(
  'a lost model ends the call with its code, and a spoken line only where someone listens',
  async (t) => {
    const talking = greeted();
    talking.model.failed({ code: 'model_lost', message: 'gone' });
    t.match(talking.finished(), {
      reason: 'model_failed',
      errorCode: 'model_lost',
      errorMessage: 'gone',
      speak: { text: /Goodbye/, language: 'en' },
    });
    const gap = greeted();
    gap.talk.streamPaused();
    gap.model.failed({ code: 'model_lost', message: 'gone' });
    t.match(
      gap.finished(),
      { speak: { text: /Goodbye/ } },
      'whose stream is gone is on the line all the same',
    );
    const ringing = open();
    ringing.model.failed({ code: 'model_refused', message: 'no' });
    t.match(ringing.finished(), { reason: 'model_failed', errorCode: 'model_refused', speak: null });
  },
);

t.test('close cuts what is unheard, waits for the last words, closes once', async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.talk.markBack(mark);
  rig.at(3_200).talk.speechStarted(3_000);
  rig.at(4_200).talk.speechEnded(4_000);
  rig.at(4_700).tick();
  rig.at(5_000).model.audio('answer', Buffer.alloc(8_000, 1));
  rig.model.text('answer', 'Never heard.');
  const closing = rig.talk.close();
  t.match(
    rig.lines().find((line) => line.text === 'Never heard.'),
    { interrupted: true, heardText: '' },
  );
  t.same(rig.did('close'), []);
  rig.model.callerText(0, 'My last words.');
  await Promise.all([closing, rig.talk.close()]);
  t.same(rig.did('close'), [['close']]);
  t.equal(rig.lines().find((line) => line.role === 'caller')?.text, 'My last words.');
});

for (const [what, end] of [
  ['the caller hangs up, or the stream is lost', (rig: Rig) => void rig.talk.close()],
  ['the talk is ended', (rig: Rig) => rig.talk.finish('max_duration', null)],
  [
    'the caller speaks first',
    (rig: Rig) => {
      rig.at(450).talk.speechStarted(300);
      rig.at(1_000).tick();
    },
  ],
] satisfies [string, (rig: Rig) => void][])
  t.test(
    `a line whose words came and whose sound did not, and ${what}: nothing of it was heard`,
    async (t) => {
      const rig = open();
      rig.model.ready({ renewed: false, tookMs: 5 });
      rig.at(100).talk.streamStarted(MULAW_8K);
      rig.at(200).model.text('greeting', 'Hello there.');
      rig.model.textDone('greeting', 'Hello there.');
      t.match(rig.lines(), [{ text: 'Hello there.', heardText: '', interrupted: false, endMs: null }]);
      end(rig);
      t.match(rig.lines(), [{ text: 'Hello there.', heardText: '', interrupted: true, endMs: 200 }]);
    },
  );

t.test('words that come while the end waits for the last words of the caller: not heard', async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.talk.markBack(mark);
  rig.at(3_200).talk.speechStarted(3_000);
  rig.at(4_200).talk.speechEnded(4_000);
  rig.at(4_700).tick();
  const closing = rig.talk.close();
  rig.at(4_900).speaks('answer', 'Never heard.', 800);
  rig.model.callerText(0, 'My last words.');
  await closing;
  t.match(
    rig.lines().find((line) => line.text === 'Never heard.'),
    { interrupted: true, heardText: '', endMs: 4_900 },
  );
});

t.test('who hangs up in the middle of his turn has said it, and nobody answers', async (t) => {
  for (const [what, end, early] of [
    ['speaking', (rig: Rig) => void rig.talk.close(), false],
    ['the model was asked already', (rig: Rig) => void rig.talk.close(), true],
    ['the call is ended', (rig: Rig) => rig.talk.finish('max_duration', null), true],
  ] satisfies [string, (rig: Rig) => void, boolean][]) {
    const rig = greeted({ takesBack: true });
    for (const mark of rig.play()) rig.talk.markBack(mark);
    rig.at(3_200).talk.voice({ is: 'speaking', onsetMs: 3_000, stoppedMs: 0 });
    rig.talk.speechStarted(3_000);
    rig.at(4_200).talk.voice({ is: 'quiet' });
    rig.talk.speechEnded(4_000);
    if (early) {
      rig.at(4_300).tick();
      rig.model.audio('early', Buffer.alloc(800, 1));
    }
    const asked = rig.did('respond').length;
    end(rig);
    t.match(
      rig.verbs.slice(-1 - (early ? 1 : 0)).map(([verb]) => verb),
      early ? ['take-back', 'commit'] : ['commit'],
      what,
    );
    const closing = rig.talk.close();
    rig.model.callerText(early ? 1 : 0, 'Bye, then.');
    await closing;
    t.match(rig.lines().at(-1), { role: 'caller', text: 'Bye, then.', startMs: 3_000, endMs: 4_200 }, what);
    t.equal(rig.did('respond').length, asked, what);
  }
});

t.test('once it is over nothing begins any more: no answer, no tool, no turn', async (t) => {
  const rig = greeted({ transcribes: true });
  const marks = rig.play();
  for (const mark of marks.slice(0, 4)) rig.talk.markBack(mark);
  rig.hears(0, 1_300);
  rig.at(1_000).talk.voice({ is: 'starting', onsetMs: 900 });
  rig.talk.speechStarted(900);
  rig.at(1_300).talk.voice({ is: 'quiet' });
  rig.talk.speechEnded(1_200);
  t.equal(rig.did('commit').length, 1, 'a short word is weighed');
  const closing = rig.talk.close();
  const [asked, told] = [rig.did('respond').length, rig.posted.length];
  rig.at(1_500).model.toolCall({ toolCallId: 'late', name: 'look_up', argumentsJson: '{}' });
  rig.model.responseDone({
    responseId: 'r',
    status: 'completed',
    reason: null,
    hadAudio: false,
    toolCalls: 0,
  });
  rig.at(1_900).model.callerText(0, 'Stop!');
  await closing;
  t.equal(rig.did('respond').length, asked);
  t.same(
    rig.posted.slice(told).map(({ type }) => type),
    ['short-word', 'transcript'],
  );
});

t.test(
  'an end at once: of an answer that went on at the model, no more is heard than was to be',
  async (t) => {
    const rig = greeted();
    const text = 'One two three four five six seven eight nine ten.';
    for (const mark of rig.play()) rig.talk.markBack(mark);
    rig.at(3_000).model.audio('answer', Buffer.alloc(500 * BYTES_PER_MS, 1));
    for (const mark of rig.play()) rig.talk.markBack(mark);
    rig.talk.finish('hangup_requested', null);
    rig.speaks('answer', text, 3_000);
    await rig.talk.close();
    const line = rig.lines().find((one) => one.text === text);
    t.equal(line?.interrupted, true);
    t.ok(line !== undefined && line.heardText.split(' ').length <= 2, `heard: ${line?.heardText}`);
  },
);

t.test('each answer is timed from the end of speech to the first sound heard', async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.at(900).talk.markBack(mark);
  rig.at(3_200).talk.speechStarted(3_000);
  rig.at(4_200).talk.speechEnded(4_000);
  rig.at(4_700).tick();
  rig.at(5_000).model.audio('answer', Buffer.alloc(8_000, 1));
  rig.at(5_010);
  const marks = rig.play();
  rig.at(5_150).talk.markBack(marks[0] ?? '');
  const turns = rig.posted.flatMap((m) => (m.type === 'turn' ? [m.times] : []));
  t.match(turns[0], { kind: 'greeting', speechEndMs: null });
  t.match(turns[1], {
    kind: 'answer',
    speechEndMs: 4_000,
    decidedMs: 4_700,
    firstModelAudioMs: 5_000,
    firstSentMs: 5_010,
    // The first mark goes out behind three messages of 40 ms.
    firstHeardMs: 5_030,
  });
});

t.test(
  'an answer begun early on a session that was lost before its first sound is asked for once more, not twice',
  async (t) => {
    const rig = greeted({ takesBack: true });
    for (const mark of rig.play()) rig.talk.markBack(mark);
    rig.at(3_200).talk.voice({ is: 'speaking', onsetMs: 3_000, stoppedMs: 0 });
    rig.talk.speechStarted(3_000);
    rig.at(4_200).talk.voice({ is: 'quiet' });
    rig.talk.speechEnded(4_000);
    rig.at(4_300).tick();
    const asked = rig.did('respond').length;
    // As the session tells it: what ran has ended, and the new one has begun the same.
    const lost = { responseId: 'r', status: 'failed', reason: 'connection_lost', hadAudio: false } as const;
    rig.model.responseDone({ ...lost, toolCalls: 0 });
    rig.at(4_500).speaks('answer', 'Here I am.', 800);
    rig.at(4_700).tick();
    t.equal(rig.did('respond').length, asked);
    for (const mark of rig.play()) rig.at(5_600).talk.markBack(mark);
    t.match(rig.lines().at(-1), { text: 'Here I am.', heardText: 'Here I am.', interrupted: false });
  },
);

t.test('what was thrown away after the last turn is in a row of its own', async (t) => {
  const rig = greeted({ takesBack: true });
  for (const mark of rig.play()) rig.talk.markBack(mark);
  rig.at(3_200).talk.voice({ is: 'speaking', onsetMs: 3_000, stoppedMs: 0 });
  rig.talk.speechStarted(3_000);
  rig.at(4_200).talk.voice({ is: 'quiet' });
  rig.talk.speechEnded(4_000);
  rig.at(4_300).tick();
  const closing = rig.talk.close();
  rig.model.callerText(1, 'Bye, then.');
  await closing;
  const rows = rig.posted.flatMap((m) => (m.type === 'turn' ? [m.times] : []));
  t.match(rows, [
    { kind: 'greeting', thrownAway: 0 },
    { kind: 'answer', speechEndMs: null, requestedMs: null, firstHeardMs: null, thrownAway: 1 },
  ]);
  t.equal(rows.length, 2);
});

t.test('typed words cut the agent short, stand in the transcript and are answered', async (t) => {
  const rig = greeted();
  const marks = rig.play();
  for (const mark of marks.slice(0, 8)) rig.talk.markBack(mark);
  rig.at(1_700).talk.typed('  What are your hours?\n');
  t.same(
    rig.verbs.slice(-4).map(([name]) => name),
    ['clear-carrier', 'interrupt', 'add-text', 'respond'],
  );
  t.same(rig.did('add-text'), [['add-text', 'user', 'What are your hours?']]);
  t.match(rig.lines().at(-1), { role: 'caller', text: 'What are your hours?', startMs: 1_700 });
  t.match(rig.lines()[0], { interrupted: true, heardText: 'Hello there,' });
  rig.talk.typed('   ');
  t.equal(rig.did('add-text').length, 1, 'nothing typed is nothing said');
});

t.test(
  'what is asked again is asked with the same instructions, and a wait is bridged by a word',
  async (t) => {
    const rig = open();
    rig.model.ready({ renewed: false, tookMs: 5 });
    rig.at(10).talk.streamStarted(MULAW_8K);
    rig.at(5_100).tick();
    rig.at(10_100).tick();
    t.same(
      rig.did('respond').map(([, instructions]) => instructions),
      ['Greet.', 'Greet.', rig.did('respond')[2]?.[1]],
    );
    t.match(rig.did('respond')[2]?.[1], /One moment, please/);
  },
);

/** Somebody makes a sound over the agent's voice, and it is held back for that. */
function held(change: Partial<PrepareCall> = {}) {
  const rig = open({ machine: 'leave_message', ...change });
  rig.model.ready({ renewed: false, tookMs: 5 });
  rig.at(100).talk.streamStarted(MULAW_8K);
  rig.at(400).model.audio('line', Buffer.alloc(16_000, 1));
  const first = rig.play();
  for (const mark of first.slice(0, 5)) rig.talk.markBack(mark);
  rig.model.audio('line', Buffer.alloc(8_000, 1));
  const more = rig.play();
  rig.at(900).talk.voice({ is: 'starting', onsetMs: 850 });
  if (rig.voice() === 'full') throw new Error('the voice is not held back');
  return { ...rig, marks: [...first.slice(5), ...more] };
}

t.test('nothing that moves the floor on leaves the voice held back', async (t) => {
  const tool = (name: string, argumentsJson = '{}') => ({ toolCallId: 't1', name, argumentsJson });
  const table: [string, (rig: ReturnType<typeof held>) => void, string | null][] = [
    ['end_call', (rig) => rig.model.toolCall(tool('end_call')), 'finished'],
    [
      'transfer_call',
      (rig) => rig.model.toolCall(tool('transfer_call', '{"target":"sales"}')),
      'transfer-requested',
    ],
    ['send_dtmf', (rig) => rig.model.toolCall(tool('send_dtmf', '{"digits":"12"}')), 'digits-requested'],
    ['finish with a line', (rig) => rig.talk.finish('draining', 'Goodbye.'), null],
    ['finish at once', (rig) => rig.talk.finish('hangup_requested', null), 'finished'],
    ['the model is lost', (rig) => rig.model.failed({ code: 'model_lost', message: 'gone' }), 'finished'],
    ['typed words', (rig) => rig.talk.typed('Stop.'), null],
    ['the stream pauses', (rig) => rig.talk.streamPaused(), null],
    ['a machine', (rig) => rig.talk.machineDetection('machine'), null],
    ['a machine that waits', (rig) => rig.talk.machineDetection('machine_ready'), null],
    ['a fax', (rig) => rig.talk.machineDetection('fax'), 'finished'],
    [
      'keys',
      (rig) => {
        rig.talk.digit('1');
        rig.at(3_000).tick();
      },
      null,
    ],
    [
      'the response is over and all of it was heard',
      (rig) => {
        rig.idle();
        for (const mark of [...rig.marks, ...rig.play()]) rig.talk.markBack(mark);
        rig.model.audioDone('line');
        rig.model.responseDone({
          responseId: 'r',
          status: 'completed',
          reason: null,
          hadAudio: true,
          toolCalls: 0,
        });
      },
      null,
    ],
  ];
  for (const [name, act, posted] of table) {
    const rig = held();
    act(rig);
    t.equal(rig.voice(), 'full', name);
    if (posted === null) continue;
    rig.model.audioDone('line');
    rig.idle();
    for (const mark of [...rig.marks, ...rig.play()]) rig.at(5_000).talk.markBack(mark);
    t.equal(rig.posted.filter((m) => m.type === posted).length, 1, `${name}: ${posted}, once`);
  }
});

t.test('a goodbye that begins while the voice is held back goes on from the next sample', async (t) => {
  const rig = held();
  rig.at(950).model.toolCall({ toolCallId: 't1', name: 'end_call', argumentsJson: '{}' });
  t.match(
    rig.posted.filter((m) => m.type === 'hold-taken-back'),
    [{ onsetMs: 850, heldMs: 900, pausedMs: null, resumedMs: 950 }],
  );
  t.same([rig.did('interrupt'), rig.did('clear-carrier')], [[], []]);
  rig.at(1_050).talk.speechStarted(850);
  rig.at(1_700).tick();
  t.equal(rig.voice(), 'full', 'nothing interrupts the last words');
});

t.test(
  'a machine that was answered: its beep cuts the answer by what was heard, then the message',
  async (t) => {
    for (const machine of ['leave_message', 'hangup'] as const) {
      const rig = open({ machine });
      rig.model.ready({ renewed: false, tookMs: 5 });
      rig.at(100).talk.streamStarted(MULAW_8K);
      rig.idle();
      t.notOk(rig.talk.waitingForBeep(), 'nobody has spoken');
      rig.at(700).talk.voice({ is: 'speaking', onsetMs: 500, stoppedMs: 0 });
      rig.talk.speechStarted(500);
      t.ok(rig.talk.waitingForBeep(), 'a beep may end the first words');
      rig.hears(500, 5_900);
      rig.at(6_000).talk.voice({ is: 'quiet' });
      rig.talk.speechEnded(5_900);
      rig.at(6_600).tick();
      t.same(rig.verbs.at(-1), ['respond', null], 'answered like anybody');
      rig.at(7_200).speaks('answer', 'Hello there, how are you today?', 2_000);
      const marks = rig.play();
      for (const mark of marks.slice(0, 8)) rig.talk.markBack(mark);
      t.ok(rig.talk.waitingForBeep(), 'over the answer too');
      rig.at(8_300).talk.beep();
      t.notOk(rig.talk.waitingForBeep());
      t.same(rig.did('interrupt').at(-1), [
        'interrupt',
        [{ itemId: 'answer', heardMs: 960, heardText: 'Hello there,' }],
      ]);
      t.equal(rig.did('clear-carrier').length, 1);
      if (machine === 'hangup') {
        t.match(rig.finished(), { reason: 'voicemail' });
        continue;
      }
      t.equal(rig.finished(), undefined);
      t.same(rig.did('respond').at(-1), ['respond', 'Leave a message.']);
      rig.at(8_900).speaks('message', 'Please call us back.', 1_000);
      for (const mark of rig.play()) rig.at(10_000).talk.markBack(mark);
      t.match(rig.finished(), { reason: 'voicemail' });
      t.match(rig.lines().at(-1), { heardText: 'Please call us back.', interrupted: false });
    }
  },
);

t.test('a tool that never answers: the model is told, and its late answer is left aside', async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.talk.markBack(mark);
  rig.at(3_000).model.toolCall({ toolCallId: 'a', name: 'look_up', argumentsJson: '{}' });
  rig.model.responseDone({
    responseId: 'r',
    status: 'completed',
    reason: null,
    hadAudio: false,
    toolCalls: 1,
  });
  rig.talk.typed('Well?');
  for (let ms = 3_000; ms <= 90_000 && rig.did('tool-result').length === 0; ms += 500) rig.at(ms).tick();
  t.match(rig.did('tool-result'), [['tool-result', 'a', /did not answer/]]);
  t.match(
    rig.posted.find((m) => m.type === 'log'),
    { event: 'talk.stuck', fields: { at: 'tools' } },
  );
  rig.talk.toolResult('a', 'late');
  t.equal(rig.did('tool-result').length, 1);
});

t.test('a goodbye of which nothing more is confirmed ends the call all the same', async (t) => {
  const rig = greeted();
  rig.model.toolCall({ toolCallId: 't1', name: 'end_call', argumentsJson: '{}' });
  const marks = rig.play();
  rig.at(1_000).talk.markBack(marks[0] ?? '');
  for (let ms = 1_000; ms < 21_000; ms += 500) rig.at(ms).tick();
  t.equal(rig.finished(), undefined);
  rig.at(21_000).tick();
  t.match(rig.finished(), { reason: 'agent_ended', errorCode: null });
});

t.test('sound of an item that was cut is no voice of the agent`s for long', async (t) => {
  const rig = greeted();
  const marks = rig.play();
  for (const mark of marks.slice(0, 8)) rig.talk.markBack(mark);
  rig.at(1_700).talk.typed('Stop.');
  rig.idle();
  // Nothing of this is played, and no response is under way that would end.
  for (let n = 0; n < 40; n++) rig.model.audio(`lost-${n}`, Buffer.alloc(0));
  rig.at(1_720).tick();
  t.match(rig.posted.filter((m) => m.type === 'floor').at(-1), { floor: 'none' });
});

t.test('nobody is heard for longer than anything may take: the call ends and says so', async (t) => {
  const rig = greeted();
  for (const mark of rig.play()) rig.talk.markBack(mark);
  // A model that calls one tool after the other and says nothing.
  let ms = 3_000;
  for (let n = 0; rig.finished() === undefined && ms < 300_000; n++, ms += 2_000) {
    rig.at(ms).model.toolCall({ toolCallId: `t${n}`, name: 'look_up', argumentsJson: '{}' });
    rig.at(ms + 1_000).talk.toolResult(`t${n}`, 'more');
    for (let at = ms; at < ms + 2_000; at += 20) rig.at(at).tick();
  }
  t.match(rig.finished(), {
    reason: 'stalled',
    errorCode: 'call_stalled',
    speak: { text: /Goodbye/, language: 'en' },
  });
  t.ok(ms < 110_000, `after ${ms} ms`);
});

/** The caller speaks for so long, and is answered or not. */
function callerSays(rig: ReturnType<typeof greeted>, fromMs: number, toMs: number) {
  rig.at(fromMs + 100).talk.voice({ is: 'starting', onsetMs: fromMs });
  rig.at(fromMs + 200).talk.voice({ is: 'speaking', onsetMs: fromMs, stoppedMs: 0 });
  rig.talk.speechStarted(fromMs);
  for (let ms = fromMs + 200; ms < toMs; ms += 20) rig.at(ms).tick();
  rig.at(toMs + 600).talk.voice({ is: 'quiet' });
  rig.talk.speechEnded(toMs);
  for (let ms = toMs + 600; ms < toMs + 2_000; ms += 20) rig.at(ms).tick();
}

t.test('what a model can do is asked of it: answers by itself', async (t) => {
  for (const answersByItself of [false, true]) {
    const rig = greeted({ answersByItself });
    for (const mark of rig.play()) rig.talk.markBack(mark);
    const before = rig.did('respond').length;
    callerSays(rig, 4_000, 5_000);
    t.equal(rig.did('commit').length, 1);
    t.equal(rig.did('respond').length - before, answersByItself ? 0 : 1, 'after a turn');
    rig.speaks('answer', 'Let me see.', 500);
    for (const mark of rig.play()) rig.talk.markBack(mark);
    const asked = rig.did('respond').length;
    rig.model.toolCall({ toolCallId: 'a', name: 'look_up', argumentsJson: '{}' });
    rig.talk.toolResult('a', 'found');
    t.equal(rig.did('respond').length - asked, answersByItself ? 0 : 1, 'after a tool');
    // The moments of the answer are told all the same.
    const turn = rig.posted.find((m) => m.type === 'turn' && m.times.kind === 'answer');
    t.match(turn, { times: { requestedMs: Number } });
  }
});

t.test('what a model can do is asked of it: truncates', async (t) => {
  for (const truncates of [false, true]) {
    const rig = greeted({ truncates });
    for (const mark of rig.play().slice(0, 10)) rig.at(1_400).talk.markBack(mark);
    rig.at(1_700).talk.typed('Stop.');
    t.match(rig.did('interrupt'), [['interrupt', [{ itemId: 'greeting' }]]]);
    const told = rig.did('add-text').filter(([, role]) => role === 'system');
    if (truncates) t.same(told, []);
    else t.match(told, [['add-text', 'system', /heard only this: "Hello[^"]*"/]]);
  }
});

t.test('what a model can do is asked of it: says a given line', async (t) => {
  for (const saysLines of [false, true]) {
    for (const language of [null, 'de', 'en']) {
      const rig = greeted({ saysLines }, { model: { ...PLAN.model, language } });
      for (const mark of rig.play()) rig.talk.markBack(mark);
      rig.at(4_000).talk.finish('draining', 'We close now.');
      // It is worded in English: a voice that says words as they are would say them so on any call.
      const asItIs = saysLines && language === 'en';
      t.same(rig.did('say'), asItIs ? [['say', 'We close now.']] : []);
      const asked = rig
        .did('respond')
        .filter(([, said]) => /in the language of the conversation.*"We close now\."/.test(String(said)));
      t.equal(asked.length, asItIs ? 0 : 1);
    }
  }
});

t.test('what a model can do is asked of it: tells the turns', async (t) => {
  for (const turns of ['bridge', 'model'] as const) {
    const rig = greeted({ turns });
    for (const mark of rig.play()) rig.talk.markBack(mark);
    const before = rig.did('append').length;
    rig.at(4_000).hears(4_000, 4_020);
    t.equal(rig.did('append').length - before, turns === 'model' ? 1 : 0, 'sound while nobody speaks');
    rig.at(4_500).model.callerSpeech('started', 300);
    rig.at(5_500).model.callerSpeech('stopped', 400);
    for (let ms = 5_500; ms < 7_000; ms += 20) rig.at(ms).tick();
    t.equal(rig.did('commit').length, turns === 'model' ? 1 : 0);
  }
});

t.test('what a model can do is asked of it: takes sound back', async (t) => {
  for (const commits of [false, true]) {
    const rig = greeted({ commits });
    for (const mark of rig.play()) rig.talk.markBack(mark);
    rig.at(4_100).talk.voice({ is: 'starting', onsetMs: 4_000 });
    rig.at(4_200).talk.voice({ is: 'speaking', onsetMs: 4_000, stoppedMs: 0 });
    rig.talk.speechStarted(4_000);
    rig.at(4_400).talk.voice({ is: 'quiet' });
    rig.talk.speechTakenBack(4_000);
    t.equal(rig.did('clear-audio').length, commits ? 1 : 0);
  }
});

t.test('what a model can do is asked of it: calls tools', async (t) => {
  const told = (rig: ReturnType<typeof open>) =>
    rig.posted.filter((m) => m.type === 'log' && m.event === 'model.calls_no_tools');
  t.same(told(open()), []);
  t.match(told(open({}, { callsTools: false })), [
    { fields: { tools: PLAN.model.tools.map(({ name }) => name) } },
  ]);
});
