// Two speech models on servers of their own and two carriers, on one daemon at the same time: each call is led by the model of
// its agent and keeps its name, each model has the calls, words and key that are its own, and is paid by its own rates.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { startModelSimulator } from '../../scripts/model-simulator/simulator.ts';
import type { PublicCall } from '../../storage/call-view.ts';
import { signIn, takeUp } from './browser-peer.ts';
import { openRig, POLITE, type Rig, until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const OTHER_GREETING = 'I am back. Please go on.';
const SECOND_KEY = 'sk-of-the-second-server';
/** US dollars a million tokens, unlike any list's. */
const RATE = {
  text_input: 1,
  text_cached: 0,
  text_output: 2,
  audio_input: 1_000,
  audio_cached: 0,
  audio_output: 3_000,
};
const STANDARD = 'gpt-realtime-2.1';

interface Session {
  config: { instructions: string; model?: string };
  violations: unknown[];
}
/** Of a server's sessions, whose calls they were, by the first word of their agents' task. */
const ledBy = (sessions: readonly Session[]) =>
  sessions.map(({ config }) => /TEST-BRIEF (\w+)/.exec(config.instructions)?.[1] ?? '?').sort();

/** What a part of a call's cost comes to, by `RATE`. */
function priced(used: Record<string, number>): number {
  const of = (name: string) => used[name] ?? 0;
  const perMillion =
    (of('input_text_tokens') - of('cached_text_tokens')) * RATE.text_input +
    (of('input_audio_tokens') - of('cached_audio_tokens')) * RATE.audio_input +
    of('output_text_tokens') * RATE.text_output +
    of('output_audio_tokens') * RATE.audio_output;
  return Math.round((perMillion / 1e6) * 100_000);
}

async function firstWords(rig: Rig, call: PublicCall): Promise<string | undefined> {
  return (await rig.transcript(call.id)).find(({ role }) => role === 'agent')?.heard_text;
}

t.test('several models and carriers at once', async (t) => {
  const brief = JSON.parse(readFileSync(join(import.meta.dirname, 'scenarios/brief.json'), 'utf8')) as {
    rules: { on: string; say: string }[];
  };
  const greets = (say: string) =>
    brief.rules.map((rule) => (rule.on === 'greeting' ? { ...rule, say } : rule));
  const second = await startModelSimulator({
    scenario: { ...brief, hears: '../hears.json', rules: greets(OTHER_GREETING) },
    apiKey: SECOND_KEY,
  });
  t.teardown(() => second.close());
  const files = t.testdir({
    'models.json': JSON.stringify({
      second: {
        model: 'in-house-voice',
        base_url: second.url,
        api_key: SECOND_KEY,
        transcription_model: 'in-house-ears',
      },
    }),
    'rates.json': JSON.stringify({ as_of: '2026-01-01', speech: { 'in-house-voice': RATE } }),
  });
  const rig = await openRig(t, {
    env: { MODELS_FILE: join(files, 'models.json'), RATES_FILE: join(files, 'rates.json') },
    carrier: { callees: { '+15550108001': POLITE, '+15550108002': POLITE, '+15550108003': POLITE } },
  });
  const { lab } = rig;
  const one = await rig.agent({ instructions: 'TEST-BRIEF Alpha.' });
  const two = await rig.agent({ instructions: 'TEST-BRIEF Beta.', model: 'second' });
  const answering = await rig.agent({
    instructions: 'TEST-BRIEF Gamma.',
    model: 'second',
    type: 'inbound',
  });
  const operator = await signIn(rig);
  let ofSecond: PublicCall | null = null;

  await t.test('the models there are, by name', async (t) => {
    const { body } = await lab.api<{ data: { name: string; is_default: boolean; model: string }[] }>(
      'GET',
      '/v1/models',
    );
    t.match(body.data, [
      { name: STANDARD, is_default: true, model: STANDARD },
      { name: 'second', is_default: false, model: 'in-house-voice' },
    ]);
  });

  await t.test('each agent talks with its own, on the telephone and on a page', async (t) => {
    const [first, other] = await Promise.all([
      rig.dial(one.id, '+15550108001'),
      rig.dial(two.id, '+15550108002'),
    ]);
    const peer = await takeUp(lab.daemon.url, await operator.open(answering.id));
    await until('the greeting on the page', async () =>
      (await rig.transcript(peer.callId)).some(({ heard_text }) => heard_text === OTHER_GREETING),
    );
    await peer.say('caller-thanks.wav');
    const calls = await Promise.all([first.id, other.id, peer.callId].map((id) => rig.ended(id)));
    const [byFirst, bySecond, onPage] = calls as [PublicCall, PublicCall, PublicCall];
    ofSecond = bySecond;
    for (const call of calls) {
      t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
    }
    t.same(
      calls.map(({ model }) => model),
      [STANDARD, 'second', 'second'],
    );
    t.same(await Promise.all(calls.map((call) => firstWords(rig, call))), [
      GREETING,
      OTHER_GREETING,
      OTHER_GREETING,
    ]);
    const sessions = {
      first: (await lab.ask<{ data: Session[] }>('model', '/sessions')).data,
      second: second.sessions() as unknown as Session[],
    };
    t.same(ledBy(sessions.first), ['Alpha'], 'no session of another’s call');
    t.same(ledBy(sessions.second), ['Beta', 'Gamma']);
    t.same(
      [...sessions.first, ...sessions.second].flatMap(({ violations }) => violations),
      [],
    );

    // Each by its own names, usage and rates.
    t.match(byFirst.cost, { model: { name: STANDARD }, carrier: { name: 'twilio' } });
    for (const { cost } of [bySecond, onPage]) {
      t.match(cost, { model: { name: 'in-house-voice' }, transcription: { name: 'in-house-ears' } });
      t.equal(cost?.model.milli_cents, priced(cost?.model.used ?? {}));
      t.ok((cost?.model.milli_cents ?? 0) > 0);
    }
    t.not(byFirst.cost?.model.milli_cents, priced(byFirst.cost?.model.used ?? {}));
    t.same(
      [bySecond.cost?.carrier.name, onPage.cost?.carrier.name],
      ['twilio', 'browser'],
      'two carriers at once, each call with its own',
    );
    const dialled = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    t.equal(dialled.calls.length, 2, 'the page was no call of the telephone’s');
  });

  await t.test('a model that was taken out of the settings leads no call, and says so', async (t) => {
    await lab.daemon.stop('SIGTERM');
    await lab.restartDaemon({ MODELS_FILE: '' });
    const refused = await lab.api<{ error: { code: string; param: string; message: string } }>(
      'POST',
      '/v1/calls',
      { agent_id: two.id, to: '+15550108003' },
    );
    t.match(refused, {
      status: 400,
      body: { error: { code: 'invalid_model', param: 'agent_id', message: `second is none of ${STANDARD}` } },
    });
    await lab.ask('carrier', '/inbound-calls', {
      to: answering.number,
      from: '+15550108009',
      callee: POLITE,
    });
    const rejected = await until('the rejection', async () =>
      (await lab.ask<{ calls: CallReport[] }>('carrier', '/calls')).calls.find(
        ({ from, endedAtMs }) => from === '+15550108009' && endedAtMs !== null,
      ),
    );
    t.equal(rejected.answeredAtMs, null, 'and answers none');
    t.match(await rig.call(ofSecond?.id ?? ''), { model: 'second' }, 'what was, stays');
    const fine = await rig.ended((await rig.dial(one.id, '+15550108001')).id);
    t.match(fine, { status: 'completed', model: STANDARD }, 'the others go on');
    t.equal(second.sessions().length, 2, 'nobody asked it again');
  });
});
