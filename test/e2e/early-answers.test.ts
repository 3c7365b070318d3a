// Answers begun in a caller's pause, over the real wires: of one that was begun too early nothing is heard, written down or done.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { z } from 'zod';
import type { callTurns } from '../../control/api/call-activity-schemas.ts';
import { openRig, until } from './rig.ts';
import { wavOf, wordsWithPause } from './sounds.ts';

type TurnsAnswer = z.infer<typeof callTurns>;

interface Session {
  violations: unknown[];
  items: { type: string; call_id?: string; generated_text?: string }[];
}

/** One call of somebody who pauses in his turn. Answers what every side says of it. */
async function callOf(t: Test, env: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'offhook-early-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'goes-on.wav');
  writeFileSync(file, wavOf(wordsWithPause()));

  let orders = 0;
  const shop = createServer((request, response) => {
    orders++;
    request.resume();
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"on its way"}');
  });
  await new Promise<void>((done) => shop.listen(0, '127.0.0.1', done));
  t.teardown(() => shop.close());
  const to = '+15550107001';
  const rig = await openRig(t, {
    env,
    scenario: [join(import.meta.dirname, 'scenarios', 'early.json')],
    carrier: {
      callees: {
        [to]: {
          ringMs: 200,
          steps: [{ do: 'say', file, when: { afterAgentSilenceMs: 1_300, timeoutMs: 20_000 } }],
          amd: { verdict: 'human', afterMs: 500 },
        },
      },
    },
  });
  const agent = await rig.agent({
    instructions: 'TEST-EARLY',
    tools: [
      {
        type: 'http',
        name: 'lookup_order',
        description: 'Finds an order.',
        parameters: { type: 'object', properties: { order_number: { type: 'string' } } },
        url: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/orders`,
        method: 'POST',
      },
    ],
  });
  const { id } = await rig.dial(agent.id, to);
  const call = await rig.ended(id, 90_000);
  const stats = await until('the counts of the call', () => {
    const line = rig.lab.daemon.lines.find((one) => one.includes('"media.released"') && one.includes(id));
    return line === undefined
      ? null
      : (JSON.parse(line) as { earlyAnswers: number; thrownAwayAnswers: number; bargeIns: number });
  });
  const turns = (await rig.lab.api<TurnsAnswer>('GET', `/v1/calls/${id}/turns`)).body.data;
  const { data: sessions } = await rig.lab.ask<{ data: Session[] }>('model', '/sessions');
  const metrics = (await rig.lab.api<string>('GET', '/metrics')).body;
  return { call, stats, turns, sessions, metrics, orders: () => orders, lines: await rig.transcript(id) };
}

const heardLines = (lines: Awaited<ReturnType<typeof callOf>>['lines']) =>
  lines.map((line) => [line.role, line.heard_text]);
const TALK = [
  ['agent', 'Hello, this is the automated assistant. How can I help you?'],
  ['caller', /^Goodbye\. Thank you for trying out/],
  ['agent', 'Thank you. Goodbye.'],
];

t.test(
  'the caller goes on: nothing of the answer begun early is heard, and its tool did not run',
  async (t) => {
    const { call, stats, turns, sessions, metrics, orders, lines } = await callOf(t, {});
    t.match(call, { status: 'completed', hangup_cause: 'agent_ended', error_code: null });
    t.match(heardLines(lines), TALK, 'one turn of his, whole, and one answer');
    t.equal(lines.length, TALK.length);
    t.equal(orders(), 0, 'the tool did not run');
    t.equal(stats.bargeIns, 0);
    t.ok(stats.thrownAwayAnswers >= 1, `${stats.thrownAwayAnswers} thrown away`);
    const answer = turns.find(({ kind }) => kind === 'answer');
    t.equal(answer?.thrown_away, stats.thrownAwayAnswers, 'the turn log says so');
    t.match(metrics, /offhook_early_answers_total\{end="thrown_away"\} [1-9]/);
    t.same(
      sessions.flatMap(({ violations }) => violations),
      [],
    );
    const left = sessions.flatMap(({ items }) => items);
    const answered = new Set(
      left.flatMap((item) => (item.type === 'function_call_output' ? item.call_id : [])),
    );
    t.same(
      left.filter(({ type, call_id }) => type === 'function_call' && !answered.has(call_id)),
      [],
      'no call of a tool stays without its answer',
    );
    t.notMatch(JSON.stringify(left.map((item) => item.generated_text ?? '')), /look that up/);
  },
);

t.test('turned off: nobody is asked before the turn is over', async (t) => {
  const { stats, turns, orders, lines } = await callOf(t, { EARLY_ANSWERS: 'false' });
  t.match(heardLines(lines), TALK);
  t.match([stats.earlyAnswers, stats.thrownAwayAnswers, orders()], [0, 0, 0]);
  t.ok(turns.every((turn) => turn.requested_ms === null || turn.requested_ms >= turn.decided_ms));
});
