// The page's own code in a real browser: a WAV file is the microphone, and what goes to the loudspeaker is listened to.
// Loaded from the daemon under its own policy; what a person sees of it is the Try-it page's test.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { compare, pieces, readWav, speechStretches, writeWav } from '../../scripts/simulate/sound.ts';
import { loudspeaker, notes, openPage, startCall } from './browser-page.ts';
import { type Operator, signIn } from './browser-peer.ts';
import { NO_CHROMIUM, openChromium } from './chromium.ts';
import { openRig, type Rig, until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const FIXTURES = join(import.meta.dirname, '../fixtures/audio');

/** Of what browser-page.ts keeps in the page, what these tests touch there. */
declare const window: {
  notes: {
    loudest: { microphone: number; agent: number };
    call: { mute(on: boolean): void; type(text: string): void; hangUp(): Promise<void> } | null;
  };
};

async function rigOf(
  t: Test,
): Promise<{ rig: Rig; operator: Operator; agent(words: string): Promise<string> }> {
  const rig = await openRig(t);
  const operator = await signIn(rig);
  return {
    rig,
    operator,
    async agent(instructions) {
      const fields = { name: 'Test', type: 'inbound', instructions };
      const made = await rig.lab.api<{ id: string }>('POST', '/v1/agents', fields);
      return made.body.id;
    },
  };
}

t.test('in Chromium', { skip: NO_CHROMIUM }, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-microphone-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  // He waits for the greeting to end, then speaks once.
  const words = readWav(readFileSync(join(FIXTURES, 'caller-thanks.wav'))).channels[0] ?? new Float32Array();
  const speech = new Float32Array(8_000 * 7 + words.length + 8_000 * 20);
  speech.set(words, 8_000 * 7);
  const microphone = join(folder, 'microphone.wav');
  writeFileSync(microphone, writeWav(speech));
  const { rig, operator, agent } = await rigOf(t);
  const { lab } = rig;
  const MICROPHONE = [
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-audio-capture=${microphone}%noloop`,
    '--autoplay-policy=no-user-gesture-required',
  ];
  const browser = await openChromium(t, MICROPHONE);
  const open = async (o: { permissions?: string[] } = {}, id = '') => {
    const context = await browser.newContext({ permissions: o.permissions ?? [] });
    await context.exposeFunction('openCall', () => operator.open(id));
    return openPage(context, lab.daemon.url);
  };
  const sessionOf = async (instructions: string) => {
    const { data } = await lab.ask<{
      data: {
        config: { instructions: string };
        violations: unknown[];
        sent_wav: string;
        items: { truncated_ms: number | null }[];
      }[];
    }>('model', '/sessions');
    const found = data.find((one) => one.config.instructions.includes(instructions));
    if (found === undefined) throw new Error('the model knows no such session');
    return found;
  };

  t.test('microphone and loudspeaker: a talk from greeting to goodbye', async (t) => {
    const id = await agent('TEST-BRIEF With a microphone.');
    const { page, problems } = await open({ permissions: ['microphone'] }, id);
    await startCall(page, true);
    const ended = await until('the end of the talk', async () => {
      const now = await notes(page);
      if (now.error !== null) throw new Error(now.error.message);
      return now.states.at(-1)?.at === 'ended' ? now : null;
    });
    t.same(
      ended.states.map(({ at }) => at),
      ['asking', 'connecting', 'talking', 'ended'],
    );
    t.match(ended.states.at(-1), { why: 'other_side', message: null });
    t.ok(ended.loudest.microphone > 0.01, `the meter saw the caller: ${ended.loudest.microphone.toFixed(3)}`);
    t.ok(ended.loudest.agent > 0.01, `and the agent: ${ended.loudest.agent.toFixed(3)}`);
    const call = await rig.ended(ended.call ?? '');
    t.match(call, { status: 'completed', hangup_cause: 'agent_ended' });
    t.match(
      (await rig.transcript(call.id)).map((line) => [
        line.role,
        line.text,
        line.heard_text,
        line.interrupted,
      ]),
      [
        ['agent', GREETING, GREETING, false],
        ['caller', /Thank you for trying out/, String, false],
        ['agent', 'Thank you. Goodbye.', 'Thank you. Goodbye.', false],
      ],
    );
    const session = await sessionOf('TEST-BRIEF With a microphone.');
    t.same(session.violations, []);
    const sent = readWav(readFileSync(session.sent_wav)).channels[0] ?? new Float32Array();
    const heard = compare(sent, await loudspeaker(page), 0);
    t.ok(heard.found.length > 3 && heard.mean > 0.8, `loudspeaker: ${heard.mean.toFixed(3)}`);
    t.same(problems, [], 'nothing that the policy forbids');
  });

  t.test('barge-in: the loudspeaker falls silent where the agent was cut', async (t) => {
    const id = await agent('TEST-LONG Cut in Chromium.');
    // Of its own: its microphone begins at the beginning.
    const other = await openChromium(t, MICROPHONE);
    const context = await other.newContext({ permissions: ['microphone'] });
    await context.exposeFunction('openCall', () => operator.open(id));
    const { page } = await openPage(context, lab.daemon.url);
    await startCall(page, true);
    const callId = await until('the talk', async () => (await notes(page)).call);
    await until('the cut', async () => (await rig.transcript(callId))[0]?.interrupted);
    await rig.ended(callId);
    const { items, sent_wav } = await sessionOf('TEST-LONG Cut in Chromium.');
    const cutMs = items.find((item) => item.truncated_ms !== null)?.truncated_ms ?? 0;
    t.ok(cutMs > 1_000, `cut at ${cutMs} ms`);
    const sent = readWav(readFileSync(sent_wav)).channels[0] ?? new Float32Array();
    const heard = await loudspeaker(page);
    const spoken = (fromMs: number, toMs: number) =>
      pieces(speechStretches(sent.subarray(0, toMs * 8)).filter(({ from }) => from >= fromMs * 8));
    const before = compare(sent, heard, 0, spoken(0, cutMs - 200));
    t.ok(before.mean > 0.8, `heard to there: ${before.mean.toFixed(3)}`);
    // A mark's worth and what lay in the loudspeaker's buffer are heard or not.
    const left = sent.subarray((cutMs + 700) * 8, (cutMs + 2_700) * 8);
    const [next] = speechStretches(left);
    t.ok(next !== undefined, 'there was more to say');
    if (next !== undefined) {
      const after = compare(left, heard, 0, [{ ...next, to: Math.min(next.to, next.from + 8_000) }]);
      t.ok(after.weakest < 0.7, `and not beyond: ${after.weakest.toFixed(3)}`);
    }
  });

  t.test('typing, without a microphone: answered and heard', async (t) => {
    const id = await agent('TEST-BRIEF By typing.');
    const { page, problems } = await open({}, id);
    await startCall(page, false);
    const begun = await until('the talk', async () => {
      const now = await notes(page);
      return now.call === null ? null : now;
    });
    await until('the greeting to be heard', async () => {
      const [line] = await rig.transcript(begun.call ?? '');
      return line?.heard_text === GREETING;
    });
    await page.evaluate(() => window.notes.call?.type('That is all.'));
    const call = await rig.ended(begun.call ?? '');
    t.match(call, { status: 'completed', hangup_cause: 'agent_ended' });
    t.match(
      (await rig.transcript(call.id)).map((line) => [line.role, line.text, line.heard_text]),
      [
        ['agent', GREETING, GREETING],
        ['caller', 'That is all.', 'That is all.'],
        ['agent', 'Thank you. Goodbye.', 'Thank you. Goodbye.'],
      ],
    );
    t.notOk(
      (await notes(page)).states.some(({ at }) => at === 'asking'),
      'nobody was asked for a microphone',
    );
    t.same(problems, []);
  });

  t.test('a browser without sound types all the same, and words count as heard at their pace', async (t) => {
    const id = await agent('TEST-BRIEF Without sound.');
    const context = await browser.newContext();
    await context.exposeFunction('openCall', () => operator.open(id));
    await context.addInitScript(() => {
      const scope = globalThis as unknown as { AudioContext: unknown };
      scope.AudioContext = undefined;
    });
    const { page } = await openPage(context, lab.daemon.url);
    const startedAt = performance.now();
    await startCall(page, false);
    const callId = await until('the talk', async () => (await notes(page)).call);
    await until('the greeting to be heard', async () => {
      const [line] = await rig.transcript(callId);
      return line?.heard_text === GREETING;
    });
    t.ok(performance.now() - startedAt > 3_000, 'not before it could have been spoken');
    await page.evaluate(() => window.notes.call?.hangUp());
    t.match(await rig.ended(callId), { status: 'completed', hangup_cause: 'remote_hangup' });
    t.match((await notes(page)).states.at(-1), { at: 'ended', why: 'hung_up' });
  });

  t.test('muted: silence is sent; leaving the page ends the call', async (t) => {
    const id = await agent('TEST-LONG Muted.');
    const { page } = await open({ permissions: ['microphone'] }, id);
    await startCall(page, true);
    const callId = await until('the talk', async () => (await notes(page)).call);
    await page.evaluate(() => {
      window.notes.call?.mute(true);
    });
    await page.waitForTimeout(300);
    await page.evaluate(() => {
      window.notes.loudest = { microphone: 0, agent: 0 };
    });
    await until('a loud agent', async () => (await notes(page)).loudest.agent > 0.01);
    t.equal((await notes(page)).loudest.microphone, 0);
    await page.goto('about:blank');
    t.match(await rig.ended(callId, 20_000), { status: 'completed', hangup_cause: 'remote_hangup' });
  });

  t.test('the microphone refused: plain words, and no call is made', async (t) => {
    const context = await browser.newContext();
    await context.exposeFunction('openCall', () => operator.open(''));
    await context.addInitScript(() => {
      const scope = globalThis as unknown as {
        navigator: { mediaDevices: { getUserMedia(): Promise<never> } };
        DOMException: new (message: string, name: string) => Error;
      };
      scope.navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new scope.DOMException('Permission denied', 'NotAllowedError'));
    });
    const { page } = await openPage(context, lab.daemon.url);
    await startCall(page, true);
    const { error, open: asked, states } = await notes(page);
    t.match(error, { code: 'permission_denied', message: /Allow it for this page.*or type instead/ });
    t.equal(asked, 0);
    t.same(
      states.map(({ at }) => at),
      ['asking'],
    );
  });

  t.test('the daemon goes: the page says so', async (t) => {
    const id = await agent('TEST-LONG Lost.');
    const { page } = await open({}, id);
    await startCall(page, false);
    await until('the talk', async () => (await notes(page)).call);
    await lab.daemon.stop('SIGKILL');
    const last = await until('the end', async () => {
      const state = (await notes(page)).states.at(-1);
      return state?.at === 'ended' ? state : null;
    });
    t.match(last, { why: 'lost', message: /connection to the daemon broke/ });
  });
});
