// What every model's session does, whatever stands behind it: one suite, run by each of them. What they differ in is read from
// their capabilities, as the talk reads it.
import type { Test } from 'tap';
import { createConverter } from '../../../audio/converter.ts';
import { bytesPerMs, MULAW_8K } from '../../../audio/format.ts';
import type { HistoryLine, ModelListener, ModelSession, ResponseEnd } from '../../../bridge/models/model.ts';
import { readFixture, toMulaw } from '../../audio/fixtures.ts';
import { type Recorder, recorder } from './openai/session-rig.ts';

/** What the model does in a case, where it has to be told beforehand. `remembers`: says what the caller said last. */
export type Manner = 'talks' | 'calls-tool' | 'remembers';
/** Opens a session of the implementation; it is not yet opened by `open`, and closed by whoever opened it. */
export type OpenForTest = (
  t: Test,
  listener: ModelListener,
  o: { manner: Manner; history: readonly HistoryLine[] },
) => Promise<ModelSession>;

interface Rig extends Recorder {
  session: ModelSession;
  /** Bytes of audio by item. */
  received: Map<string, number>;
  /** Listener calls that came from within a verb, but for `requested`. */
  within: string[];
  /** Runs a verb, watching for that. */
  verb<A>(run: () => A): A;
}

async function openRig(
  t: Test,
  open: OpenForTest,
  manner: Manner = 'talks',
  history: readonly HistoryLine[] = [],
): Promise<Rig> {
  const made = recorder();
  const received = new Map<string, number>();
  const within: string[] = [];
  let inVerb = false;
  const listener = new Proxy(made.listener, {
    get(target, name: keyof ModelListener) {
      return (...args: unknown[]) => {
        if (inVerb && name !== 'requested') within.push(name);
        if (name === 'audio') {
          const [itemId, payload] = args as [string, Buffer];
          received.set(itemId, (received.get(itemId) ?? 0) + payload.length);
        }
        (target[name] as (...given: unknown[]) => void)(...args);
      };
    },
  });
  const session = await open(t, listener, { manner, history });
  return {
    ...made,
    session,
    received,
    within,
    verb(run) {
      inVerb = true;
      try {
        return run();
      } finally {
        inVerb = false;
      }
    },
  };
}

async function readyRig(t: Test, open: OpenForTest, manner: Manner = 'talks'): Promise<Rig> {
  const rig = await openRig(t, open, manner);
  rig.verb(() => rig.session.open());
  await rig.take('ready');
  return rig;
}

/** Speech of a person, frame by frame, in what the session takes. */
function speak({ session, verb }: Rig): void {
  const sound = Buffer.from(toMulaw(readFixture('jfk-8k')));
  const toModel = createConverter(MULAW_8K, session.takes);
  for (let at = 0; at < sound.length; at += 160)
    verb(() => session.appendAudio(toModel.convert(sound.subarray(at, at + 160))));
}

/** The next response that has ended in this way. */
async function done(rig: Rig, status: ResponseEnd['status'] = 'completed'): Promise<ResponseEnd> {
  for (;;) {
    const [end] = (await rig.take('responseDone')) as [ResponseEnd];
    if (end.status === status) return end;
  }
}

export function modelConformance(t: Test, name: string, open: OpenForTest): void {
  t.test(`${name}: a response is whole, in the format it gives`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    t.notOk(session.busy(), 'nothing is asked yet');
    rig.verb(() => session.respond({ instructions: 'Greet them.' }));
    t.ok(session.busy());
    t.match(await done(rig), { status: 'completed', hadAudio: true, toolCalls: 0 });
    t.notOk(session.busy());
    t.equal(rig.received.size, 1, 'one item');
    for (const [itemId, bytes] of rig.received) {
      t.equal(bytes % (session.gives.encoding === 'pcm16' ? 2 : 1), 0, 'whole samples');
      t.ok(bytes >= 200 * bytesPerMs(session.gives), 'a voice');
      t.match(await rig.take('audioDone'), [itemId]);
      t.match(await rig.take('textDone'), [itemId, /\w/]);
    }
    t.ok(rig.asked.count >= 1);
    t.same(rig.within, [], 'nothing is told from within a verb');
  });

  t.test(`${name}: a turn has its number, its words and its answer`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    for (let turn = 0; turn < 2; turn++) {
      speak(rig);
      t.equal(
        rig.verb(() => session.endTurn()),
        turn,
      );
      if (!session.capabilities.answersByItself) rig.verb(() => session.respond());
      t.match(await rig.take('callerText'), [turn, /\w/]);
      t.match(await done(rig), { hadAudio: true });
    }
    t.equal(
      rig.verb(() => session.endTurn()),
      null,
      'nothing was said since',
    );
    t.same(rig.within, []);
  });

  t.test(`${name}: a turn given into a response has its words and no answer, where it can`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    const { turns, commits, answersByItself, transcribes } = session.capabilities;
    if (turns !== 'bridge' || !commits || answersByItself || !transcribes) return;
    rig.verb(() => session.respond({ instructions: 'Greet them.' }));
    await rig.take('text');
    speak(rig);
    t.equal(
      rig.verb(() => session.endTurn()),
      0,
    );
    t.match(await rig.take('callerText'), [0, /\w/]);
    t.match(await done(rig), { hadAudio: true }, 'what is said goes on');
    t.notOk(session.busy(), 'and nothing more is said');
    t.same(rig.within, []);
  });

  t.test(`${name}: what was given before a turn is ended can be taken back, where it can`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    speak(rig);
    rig.verb(() => session.clearAudio());
    const turn = rig.verb(() => session.endTurn());
    t.equal(turn, session.capabilities.commits ? null : 0);
  });

  t.test(`${name}: interrupted, nothing late is heard, and what is asked next is answered`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    rig.verb(() => session.respond({ instructions: 'Greet them.' }));
    const [itemId] = (await rig.take('text')) as [string];
    rig.verb(() => session.interrupt([{ itemId, heardMs: 0, heardText: '' }]));
    const before = rig.received.get(itemId);
    rig.verb(() => session.respond({ instructions: 'Greet them again.' }));
    const { responseId } = await done(rig);
    t.ok(responseId);
    t.equal(rig.received.get(itemId), before, 'no more of the one that was cut');
    t.notOk(session.busy());
    t.same(rig.within, []);
  });

  t.test(`${name}: a turn that may go on is taken back with its answer, where it can`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    if (!session.capabilities.takesBack) return;
    speak(rig);
    const turn = rig.verb(() => session.endTurn({ mayGoOn: true }));
    if (turn === null) throw new Error('nothing was said');
    rig.verb(() => session.respond());
    const [itemId] = (await rig.take('text')) as [string];
    rig.verb(() => session.takeBack({ turn, itemIds: [itemId], toolCallIds: [] }));
    const before = rig.received.get(itemId);
    const next = rig.verb(() => session.endTurn());
    t.equal(next, turn + 1, 'it is open again, with its sound');
    rig.verb(() => session.respond());
    for (;;) {
      const [of, words] = await rig.take('callerText');
      if (of !== next) continue;
      t.match(words, /\w/);
      break;
    }
    t.match(await done(rig), { hadAudio: true });
    t.equal(rig.received.get(itemId), before, 'no more of what was taken back');
    t.notOk(session.busy());
    t.same(rig.within, []);
  });

  t.test(`${name}: says a given line, where it can`, async (t) => {
    const rig = await readyRig(t, open);
    const { session } = rig;
    rig.verb(() => session.say('We close in five minutes.'));
    t.equal(session.busy(), session.capabilities.saysLines);
    if (!session.capabilities.saysLines) return;
    t.match(await rig.take('textDone'), [String, 'We close in five minutes.']);
    t.match(await done(rig), { hadAudio: true });
  });

  t.test(`${name}: calls a tool and goes on with its result, where it can`, async (t) => {
    const rig = await readyRig(t, open, 'calls-tool');
    const { session } = rig;
    if (!session.capabilities.callsTools) return;
    rig.verb(() => session.respond());
    const [call] = (await rig.take('toolCall')) as [{ toolCallId: string; name: string }];
    t.equal(call.name, 'end_call');
    t.match(await done(rig), { toolCalls: 1 });
    rig.verb(() => session.sendToolResult(call.toolCallId, '{"state":"done"}'));
    if (!session.capabilities.answersByItself) rig.verb(() => session.respond());
    t.match(await done(rig), { hadAudio: true });
    t.same(rig.within, []);
  });

  t.test(`${name}: it knows what was said before, and speaks when it is asked`, async (t) => {
    const history: HistoryLine[] = [
      { role: 'system', text: 'They pressed 1.' },
      { role: 'agent', text: 'Good morning. Who is speaking?' },
      { role: 'caller', text: '' },
      { role: 'tool', name: 'end_call', argumentsJson: '{}', output: '{"ok":false}' },
      { role: 'agent', text: '' },
      { role: 'agent', text: 'I did not hear you.' },
      { role: 'caller', text: 'This is Bo Lindqvist.' },
    ];
    const rig = await openRig(t, open, 'remembers', history);
    const { session } = rig;
    rig.verb(() => session.open());
    await rig.take('ready');
    t.notOk(session.busy(), 'nothing is asked yet');
    t.equal(rig.asked.count, 0);
    rig.verb(() => session.respond());
    t.match(await rig.take('textDone'), [String, /This is Bo Lindqvist/]);
    t.match(await done(rig), { hadAudio: true });
    const told = rig.events.map(([event]) => event);
    t.notOk(told.includes('callerText') || told.includes('toolCall'), 'of what was before nothing is told');
    speak(rig);
    t.equal(
      rig.verb(() => session.endTurn()),
      0,
      'turns are counted from here on',
    );
    t.same(rig.within, []);
  });

  t.test(`${name}: before it is ready sound is dropped, and what is asked for waits`, async (t) => {
    const rig = await openRig(t, open);
    const { session } = rig;
    speak(rig);
    t.equal(
      rig.verb(() => session.endTurn()),
      null,
    );
    rig.verb(() => session.respond({ instructions: 'Greet them.' }));
    t.ok(session.busy());
    rig.verb(() => session.open());
    await rig.take('ready');
    t.match(await done(rig), { hadAudio: true });
  });

  t.test(
    `${name}: closed, it tells nothing more; safe to call twice, and with every verb after it`,
    async (t) => {
      const rig = await readyRig(t, open);
      const { session } = rig;
      rig.verb(() => session.respond({ instructions: 'Greet them.' }));
      const closing = session.close();
      const told = rig.events.length;
      await closing;
      await session.close();
      speak(rig);
      session.clearAudio();
      t.equal(session.endTurn(), null);
      session.respond();
      session.say('Hello.');
      session.interrupt([]);
      session.takeBack({ turn: 0, itemIds: [], toolCallIds: [] });
      session.addText('system', 'Nobody listens.');
      session.sendToolResult('none', '{}');
      t.notOk(session.busy());
      await new Promise((resolve) => setImmediate(resolve));
      t.equal(rig.events.length, told);
    },
  );
}
