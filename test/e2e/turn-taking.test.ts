// Who has the floor, on real calls side by side: a word of assent and an echo do not stop the agent, a click does not, an
// interruption does, and what was heard of the agent is what the transcript says.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import t from 'tap';
import type { CalleeInput } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, type Rig, until } from './rig.ts';
import { knownWord, wavOf, wordOfAssent } from './sounds.ts';

const GREETING =
  'Hello, this is the automated assistant of Riverside Dental. I am calling about your appointment on Tuesday at ten thirty. Will you be there? Our office is open from nine in the morning to five in the afternoon. Shall I confirm your appointment?';
const HEARS = '../../../scripts/model-simulator/hears.json';
/** It is spoken at 17 letters a second. */
const MOST_LETTERS_A_MS = 0.025;
const THANKS = {
  do: 'say',
  file: 'caller-thanks.wav',
  when: { afterAgentSilenceMs: 900, timeoutMs: 40_000 },
} as const;

interface Told {
  bargeIns: number;
  falseBargeIns: number;
}

/** The carrier's report and the daemon's counts of one call. */
async function seen(rig: Rig, id: string, to: string): Promise<{ carrier: CallReport; told: Told }> {
  const { calls } = await rig.lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
  const carrier = calls.find((call) => call.to === to);
  if (carrier === undefined) throw new Error(`the carrier knows no call to ${to}`);
  const told = await until('the counts of the call', async () => {
    const line = rig.lab.daemon.lines.find((one) => one.includes('"media.released"') && one.includes(id));
    return line === undefined ? null : (JSON.parse(line) as Told);
  });
  return { carrier, told };
}

// Each has a lab of its own, and waits for calls most of its time.
t.jobs = 3;

t.test('the floor', async (t) => {
  const sounds = mkdtempSync(join(tmpdir(), 'offhook-sounds-'));
  t.teardown(() => rmSync(sounds, { recursive: true, force: true }));
  const mhm = join(sounds, 'mhm.wav');
  const click = join(sounds, 'click.wav');
  writeFileSync(mhm, wavOf(wordOfAssent()));
  writeFileSync(
    click,
    wavOf(Int16Array.from({ length: 400 }, (_, i) => 12_000 * Math.exp(-i / 60) * (i % 7 < 3 ? 1 : -1))),
  );
  const callees: Record<string, CalleeInput> = {
    '+14155550901': { steps: [{ do: 'barge_in', file: mhm, afterAgentMs: 2_500 }, THANKS] },
    '+14155550902': { echo: { gainDb: -20, delayMs: 180 }, noise: { levelDb: -62 }, steps: [THANKS] },
    '+14155550903': { steps: [{ do: 'barge_in', file: click, afterAgentMs: 2_500 }, THANKS] },
    '+14155550904': { steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 4_000 }] },
    '+14155550905': {
      echo: { gainDb: -26, delayMs: 90 },
      steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 4_000 }],
    },
  };
  const callers = Object.entries(callees).map(([to, callee]) => [
    to,
    { ringMs: 200, amd: { verdict: 'human', afterMs: 2_000 }, ...callee },
  ]);
  // The model knows the word for what it is.
  const long = join(import.meta.dirname, 'scenarios/long.json');
  const scenario = join(sounds, 'long.json');
  const said = JSON.parse(readFileSync(join(dirname(long), HEARS), 'utf8')) as { file: string }[];
  const thanks = said
    .filter(({ file }) => file.endsWith('caller-thanks.wav'))
    .map((one) => ({ ...one, file: join(dirname(long), dirname(HEARS), one.file) }));
  writeFileSync(
    scenario,
    JSON.stringify({
      ...JSON.parse(readFileSync(long, 'utf8')),
      hears: [knownWord(join(sounds, 'known.wav'), wordOfAssent(), 'Mhm.'), ...thanks],
    }),
  );
  const rig = await openRig(t, {
    carrier: { callees: Object.fromEntries(callers) },
    scenario: [scenario],
  });
  const agent = await rig.agent({ instructions: 'TEST-LONG' });
  const calls = await Promise.all(
    Object.keys(callees).map(async (to) => {
      const { id } = await rig.dial(agent.id, to);
      await rig.ended(id, 90_000);
      const greeting = (await rig.transcript(id)).find((line) => line.role === 'agent');
      return [to, { ...(await seen(rig, id, to)), greeting, lines: await rig.transcript(id) }] as const;
    }),
  );
  const at = Object.fromEntries(calls);
  const of = (last: number) => at[`+1415555090${last}`]!;
  for (const [to, { carrier, told }] of calls)
    t.comment(
      to,
      JSON.stringify({
        told: [told.bargeIns, told.falseBargeIns],
        b: carrier.conversation?.bargeIns,
        gaps: carrier.streams.at(-1)?.gaps,
        r: carrier.conversation?.responseMs,
      }),
    );

  for (const [name, last] of [
    ['a word of assent', 1],
    ['echo', 2],
    ['a click', 3],
  ] as const) {
    t.match(
      of(last).greeting,
      { text: GREETING, heard_text: GREETING, interrupted: false },
      `${name}: heard to the end`,
    );
    t.equal(of(last).told.bargeIns, 0, name);
    t.same(
      of(last).lines.map((line) => line.role),
      ['agent', ...(last === 1 ? ['caller'] : []), 'caller', 'agent'],
      `${name} is no turn`,
    );
    t.same(of(last).carrier.streams.at(-1)?.clears, [], `${name}: nothing was thrown away`);
  }
  t.equal(of(1).told.falseBargeIns, 1, 'held for the word, and taken back');
  // A machine that stalls tears what is played and what comes back apart for a moment.
  t.ok(of(2).told.falseBargeIns <= 2, `an echo held ${of(2).told.falseBargeIns} times`);
  for (const last of [4, 5]) {
    const { greeting, told, carrier } = of(last);
    t.equal(told.bargeIns, 1);
    t.equal(greeting?.interrupted, true);
    t.ok(GREETING.startsWith(greeting?.heard_text ?? '?'));
    const [bargeIn] = carrier.conversation?.bargeIns ?? [];
    // He speaks when the agent has spoken for four seconds without a pause, and a busy machine makes pauses.
    const most = Math.min(GREETING.length - 1, MOST_LETTERS_A_MS * (bargeIn?.agentStoppedMs ?? 0));
    t.ok(
      (greeting?.heard_text.length ?? 0) > 20 && (greeting?.heard_text.length ?? 999) <= most,
      `of ${bargeIn?.agentStoppedMs} ms: ${greeting?.heard_text}`,
    );
    const lateMs = await rig.lateMs();
    t.ok(
      (bargeIn?.reactionMs ?? 99_999) < 1_000 + lateMs,
      `silent ${bargeIn?.reactionMs} ms after the onset`,
    );
  }
});

for (const mode of ['server_vad', 'semantic_vad']) {
  t.test(`turns told by the model's server: ${mode}`, async (t) => {
    const callers: Record<string, CalleeInput> = {
      '+14155550911': { steps: [THANKS] },
      '+14155550912': { steps: [{ do: 'barge_in', file: 'caller-thanks.wav', afterAgentMs: 4_000 }] },
    };
    const rig = await openRig(t, {
      carrier: {
        callees: Object.fromEntries(
          Object.entries(callers).map(([to, callee]) => [
            to,
            { ringMs: 200, amd: { verdict: 'human', afterMs: 2_000 }, ...callee },
          ]),
        ),
      },
      env: { TURN_DETECTION: mode },
    });
    const agent = await rig.agent({ instructions: 'TEST-LONG' });
    await Promise.all(
      Object.keys(callers).map(async (to) => {
        const { id } = await rig.dial(agent.id, to);
        t.match(await rig.ended(id, 90_000), { status: 'completed', hangup_cause: 'agent_ended' }, to);
        const lines = await rig.transcript(id);
        // A server may take this speaker's pause for an end, and he goes on: then the turn comes in two pieces.
        const roles = lines.map((line) => line.role).join(' ');
        t.match(roles, /^agent caller( agent| caller)* agent$/, to);
        t.match(lines.find((line) => line.role === 'caller')?.text, /Goodbye/, 'words the server committed');
        const { told } = await seen(rig, id, to);
        if (to.endsWith('2')) t.ok(told.bargeIns >= 1);
        t.equal(lines[0]?.interrupted, to.endsWith('2'));
        t.ok(GREETING.startsWith(lines[0]?.heard_text ?? '?'));
      }),
    );
    const { data } = await rig.lab.ask<{
      data: { violations: unknown[]; config: { audio: { input: { turn_detection: unknown } } } }[];
    }>('model', '/sessions');
    for (const { violations, config } of data) {
      t.same(violations, []);
      t.match(config.audio.input.turn_detection, { type: mode, create_response: false });
    }
  });
}
