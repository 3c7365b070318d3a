// Short words over the agent's voice on real calls: the transcription tells "stop" from "mhm", which sound alike long.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import t from 'tap';
import type { CalleeInput } from '../../scripts/carrier-simulator/options.ts';
import { openRig, until } from './rig.ts';
import { knownWord, otherWord, wavOf, wordOfAssent } from './sounds.ts';

const FIXTURES = resolve(import.meta.dirname, '../fixtures/audio');
const THANKS = {
  do: 'say',
  file: 'caller-thanks.wav',
  when: { afterAgentSilenceMs: 2_500, timeoutMs: 60_000 },
} as const;

t.test('a word that stops stops the agent, and is answered; an assent does not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-short-words-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const words = { 'Stop!': otherWord(), 'Mhm.': wordOfAssent() };
  const hears = Object.entries(words).map(([text, sound], i) => {
    writeFileSync(join(folder, `said-${i}.wav`), wavOf(sound));
    return knownWord(join(folder, `known-${i}.wav`), sound, text);
  });
  const long = JSON.parse(readFileSync(join(import.meta.dirname, 'scenarios/long.json'), 'utf8')) as {
    rules: { on: string }[];
  };
  const scenario = join(folder, 'short-words.json');
  const thanks = {
    file: join(FIXTURES, 'caller-thanks.wav'),
    words: [
      [310, 990, 'Goodbye.'],
      [1_280, 2_140, 'Thanks.'],
    ],
  };
  writeFileSync(
    scenario,
    JSON.stringify({
      ...long,
      name: 'short-words',
      hears: [...hears, thanks],
      rules: [
        ...long.rules.slice(0, 2),
        ...long.rules.flatMap((rule) => (rule.on === 'caller' ? { ...rule, heard: 'Goodbye' } : [])),
        { on: 'any', instructions: 'broken in', say: 'Yes, please?' },
        { on: 'any', say: 'All right.' },
      ],
    }),
  );
  const callees: Record<string, CalleeInput> = Object.fromEntries(
    ['+14155550921', '+14155550922'].map((to, i) => [
      to,
      {
        ringMs: 200,
        amd: { verdict: 'human', afterMs: 2_000 },
        steps: [{ do: 'barge_in', file: join(folder, `said-${i}.wav`), afterAgentMs: 2_500 }, THANKS],
      },
    ]),
  );
  const rig = await openRig(t, { carrier: { callees }, scenario: [scenario] });
  const agent = await rig.agent({ instructions: 'TEST-LONG', language: 'en' });
  const [stopped, went] = await Promise.all(
    Object.keys(callees).map(async (to) => {
      const { id } = await rig.dial(agent.id, to);
      t.match(await rig.ended(id, 90_000), { status: 'completed', hangup_cause: 'agent_ended' }, to);
      const released = await until('the counts of the call', async () => {
        const line = rig.lab.daemon.lines.find((one) => one.includes('"media.released"') && one.includes(id));
        return line === undefined ? null : (JSON.parse(line) as { bargeIns: number });
      });
      const { body } = await rig.lab.api<{ data: { kind: string; barged_in: boolean }[] }>(
        'GET',
        `/v1/calls/${id}/turns`,
      );
      return { lines: await rig.transcript(id), bargeIns: released.bargeIns, turns: body.data };
    }),
  );
  const said = ({ lines }: NonNullable<typeof stopped>) => lines.map(({ role, text }) => [role, text]);

  t.equal(stopped!.bargeIns, 1);
  t.match(said(stopped!).slice(1, 3), [
    ['caller', 'Stop!'],
    ['agent', 'Yes, please?'],
  ]);
  t.match(stopped!.lines[0], { role: 'agent', interrupted: true });
  t.ok(stopped!.lines[0]!.heard_text.length < stopped!.lines[0]!.text.length);
  t.match(stopped!.turns.slice(0, 2), [{ kind: 'greeting' }, { kind: 'answer' }]);

  t.equal(went!.bargeIns, 0);
  t.match(said(went!)[1], ['caller', 'Mhm.'], 'said into the greeting');
  t.match(went!.lines[0], { role: 'agent', interrupted: false, heard_text: went!.lines[0]!.text });
  t.notOk(went!.lines.some(({ text }) => text === 'Yes, please?'));

  const metrics = await rig.lab.api<string>('GET', '/metrics');
  for (const became of ['stopped', 'go-on'])
    t.match(`${metrics.body}`, new RegExp(`offhook_short_words_total\\{became="${became}"\\} 1`));
  const { data } = await rig.lab.ask<{ data: { violations: unknown[] }[] }>('model', '/sessions');
  for (const { violations } of data) t.same(violations, []);
});
