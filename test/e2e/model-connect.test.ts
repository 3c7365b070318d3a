// The model goes wrong before its session is up: a hang at every step, refusals, a late start. The phone may ring meanwhile;
// whoever has picked up is not left without a word.
import t from 'tap';
import type { CallReport } from '../../scripts/carrier-simulator/report.ts';
import type { Fault } from '../../scripts/model-simulator/faults.ts';
import { openRig, POLITE, until } from './rig.ts';

const GREETING = 'Hello, this is the automated assistant. How can I help you?';
const WELL = { status: 'completed', hangup_cause: 'agent_ended', error_code: null };
const failed = (error_code: string) => ({ status: 'failed', hangup_cause: 'model_failed', error_code });

interface Case {
  name: string;
  faults: Fault[];
  end: Record<string, unknown>;
  /** What the model was asked to open, at most: nobody hammers a server that refuses. */
  attempts: number;
}

const CASES: Case[] = [
  { name: 'hangs at the upgrade, once', faults: [{ kind: 'upgrade_hang' }], end: WELL, attempts: 2 },
  {
    name: 'hangs at every upgrade',
    faults: [{ kind: 'upgrade_hang', times: 50 }],
    end: failed('model_unreachable'),
    attempts: 3,
  },
  {
    name: 'opens and never begins its session, once',
    faults: [{ kind: 'session_created_never' }],
    end: WELL,
    attempts: 2,
  },
  {
    name: 'begins its session late',
    faults: [{ kind: 'session_created_late', ms: 3_000 }],
    end: WELL,
    attempts: 1,
  },
  {
    name: 'opens and closes at once, twice',
    faults: [{ kind: 'close_on_open', close_code: 1011, message: 'try again', times: 2 }],
    end: WELL,
    attempts: 3,
  },
  {
    name: 'opens and closes because of the key',
    faults: [
      {
        kind: 'close_on_open',
        close_code: 3000,
        message: 'invalid_request_error.invalid_api_key',
        times: 50,
      },
    ],
    // Known before anybody picks up: then nobody is bothered.
    end: { ...failed('model_refused'), answered_at: null },
    attempts: 1,
  },
  {
    name: 'is overloaded, then limits, then opens',
    faults: [
      { kind: 'upgrade_status', status: 503 },
      { kind: 'upgrade_status', status: 429, code: 'rate_limit_exceeded', retry_after_ms: 200 },
    ],
    end: WELL,
    attempts: 3,
  },
];

t.test('a model that cannot be reached, at first or at all', async (t) => {
  const rig = await openRig(t, { carrier: { defaultCallee: POLITE } });
  const { lab } = rig;
  const agent = await rig.agent({ instructions: 'TEST-BRIEF' });
  const upgrades = async () => (await lab.ask<{ count: number }>('model', '/upgrades')).count;
  for (const [index, one] of CASES.entries()) {
    await t.test(one.name, async (t) => {
      await lab.ask('model', '/faults', undefined, 'DELETE');
      await lab.ask('model', '/faults', one.faults);
      const before = await upgrades();
      const to = `+155506300${String(index).padStart(2, '0')}`;
      const call = await rig.ended((await rig.dial(agent.id, to)).id);
      const answered = call.answered_at !== null;
      t.match(call, { ...one.end, reservation_status: answered ? 'settled' : 'released' });
      t.ok((await upgrades()) - before <= one.attempts, 'attempts');
      const carrier = await until('the end at the carrier', async () => {
        const { calls } = await lab.ask<{ calls: CallReport[] }>('carrier', '/calls');
        return calls.find((report) => report.to === to && report.endedAtMs !== null);
      });
      t.same(carrier.violations, []);
      const silentMs = carrier.conversation?.longestSilenceMs ?? 0;
      const lateMs = await rig.lateMs();
      t.ok(silentMs < 16_000 + lateMs, `${silentMs} ms without a sound`);
      const lines = (await rig.transcript(call.id)).filter(({ role }) => role === 'agent');
      if (call.status === 'completed') {
        t.match(lines[0], { text: GREETING, heard_text: GREETING });
        t.equal(lines.filter(({ text }) => text === GREETING).length, 1, 'it greets once');
      } else if (answered) {
        t.match(JSON.stringify(carrier.spoken), /technical problem/, 'the other side was told');
      }
      const ends = await until('its webhook', () => {
        const found = rig.events(call.id).filter(({ type }) => /completed|failed/.test(type));
        return found.length > 0 ? found : null;
      });
      t.equal(ends.length, 1, 'one end was told');
    });
  }
  await t.test('nothing is left behind', async (t) => {
    await until('the media threads to hold no call', async () => {
      const { body } = await lab.api<string>('GET', '/metrics');
      return (
        !/^offhook_media_calls\{.*\} [1-9]/m.test(body) && !/^offhook_calls_live\{.*\} [1-9]/m.test(body)
      );
    });
    t.pass();
  });
});
