// A model's session ends by the clock, several times in a call: the talk goes on as if it were one session, audibly and in
// what the model knows. A 60-minute session in a long call, in seconds.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { CalleeInput } from '../../scripts/carrier-simulator/options.ts';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import { openRig, until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const FIRST =
  'Our office is open from nine in the morning to five in the afternoon. Shall I confirm your appointment?';
const LAST = 'Thank you. Goodbye.';

/** Two turns, each after the agent has been silent for a while. */
const talks = (afterAgentSilenceMs: number): CalleeInput => ({
  ringMs: 300,
  steps: [1, 2].map(() => ({
    do: 'say' as const,
    file: 'caller-thanks.wav',
    when: { afterAgentSilenceMs, timeoutMs: 20_000 },
  })),
});

t.test('sessions of 5 s', async (t) => {
  const pauses = [800, 1_500, 2_300];
  const numberOf = (index: number) => `+155506200${index}0`;
  const rig = await openRig(t, {
    carrier: { callees: Object.fromEntries(pauses.map((ms, index) => [numberOf(index), talks(ms)])) },
    env: { MODEL_SESSION_SECONDS: '5' },
  });
  const { lab } = rig;
  const brief = JSON.parse(readFileSync(join(import.meta.dirname, 'scenarios/brief.json'), 'utf8'));
  await lab.ask('model', '/scenario', {
    ...brief,
    hears: '../hears.json',
    rules: [
      { on: 'greeting', say: GREETING },
      // The turn is counted over what a session was told: only who kept the context comes to the end.
      { on: 'caller', turn: 1, say: FIRST },
      { on: 'caller', turn: 2, heard: 'Goodbye', say: LAST, tool: { name: 'end_call' } },
      { on: 'any', say: 'All right.' },
    ],
  });
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const dialled = await Promise.all(
    pauses.map((_, index) =>
      rig.dial(agent.id, numberOf(index), { instructions: `TEST-BRIEF CALL-${index};` }),
    ),
  );
  const ended = await Promise.all(dialled.map((call) => rig.ended(call.id, 100_000)));
  const { calls } = await until('every end at the carrier', async () => {
    const answer = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
    return answer.calls.every((call) => call.endedAtMs !== null) ? answer : null;
  });
  const { data: sessions } = await lab.ask<{ data: SessionReport[] }>('model', '/sessions');
  const lateMs = await rig.lateMs();
  let whileSpeaking = 0;

  for (const [index, call] of ended.entries()) {
    await t.test(`the caller waits ${pauses[index]} ms before each turn`, async (t) => {
      t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
      const lines = await rig.transcript(call.id);
      t.match(
        lines.map((line) => [line.role, line.text]),
        [
          ['agent', GREETING],
          ['caller', /Goodbye/],
          ['agent', FIRST],
          ['caller', /Goodbye/],
          ['agent', LAST],
        ],
        'one greeting, every turn once, and the context of all of them',
      );
      t.ok(lines.every((line) => line.heard_text === line.text && !line.interrupted));
      const carrier = calls.find((one) => one.to === numberOf(index));
      t.equal(carrier?.streams.length, 1);
      t.same(carrier?.violations, []);
      t.same(
        carrier?.streams[0]?.gaps.filter((gap) => !gap.afterMark && gap.ms > 400 + lateMs),
        [],
        'no seam is to be heard',
      );
      t.equal(carrier?.streams[0]?.received.clears, 0, 'and nothing was taken back');

      const own = sessions.filter(({ config }) => config.instructions.includes(`CALL-${index};`));
      t.ok(own.length >= 3, `${own.length} sessions`);
      t.same(
        own.flatMap(({ violations }) => violations),
        [],
      );
      t.ok(
        own.every(({ open }) => !open),
        'each was closed when the next had taken over',
      );
      const known = JSON.stringify(own.at(-1)?.items);
      for (const said of [GREETING, 'Goodbye', FIRST]) t.ok(known.includes(said), `it knows: ${said}`);
      const answeredAt = Date.parse(carrier?.createdAt ?? '') + (carrier?.answeredAtMs ?? 0);
      const spurts = carrier?.conversation?.agentSpurts ?? [];
      for (const { started_at } of own.slice(1)) {
        const atMs = Date.parse(started_at) - answeredAt;
        if (spurts.some(({ startMs, endMs }) => atMs > startMs && atMs < endMs)) whileSpeaking++;
      }
    });
  }
  t.ok(whileSpeaking > 0, `${whileSpeaking} sessions began while the agent was being heard`);
  t.notOk(
    lab.daemon.lines.some((line) => line.includes('model.reconnecting')),
    'none was lost: the next is ready before the old one goes',
  );
});

interface SessionReport {
  started_at: string;
  open: boolean;
  config: { instructions: string };
  violations: unknown[];
  items: unknown[];
}
