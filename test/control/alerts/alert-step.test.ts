// One look at a rule, by table; and any course of looks against what may be told at all.
import t from 'tap';
import { type AlertStanding, alertStep, REPEAT_MS, WELL } from '../../../control/alerts/alert-step.ts';
import { seeded } from '../../random.ts';

const MINUTE = 60_000;
const standing = (status: AlertStanding['status'], sinceMs: number, toldMs: number | null = null) => ({
  status,
  sinceMs,
  firedMs: toldMs,
  toldMs,
});

t.test('each look, by how it stood', async (t) => {
  const now = 10 * MINUTE;
  for (const [name, hold, before, wrong, status, tell] of [
    ['well + well -> nothing', 0, WELL, false, null, null],
    ['well + wrong, no hold -> told', 0, WELL, true, 'firing', 'firing'],
    ['well + wrong, held -> pending', 5, WELL, true, 'pending', null],
    ['pending + wrong, too soon -> nothing', 5, standing('pending', now - 4 * MINUTE), true, null, null],
    ['pending + wrong, held -> told', 5, standing('pending', now - 5 * MINUTE), true, 'firing', 'firing'],
    ['pending + well -> ok, nobody told', 5, standing('pending', now - MINUTE), false, 'ok', null],
    ['firing + wrong -> nothing', 5, standing('firing', 0, 0), true, null, null],
    ['firing + well, no hold -> resolved', 0, standing('firing', 0, 0), false, 'ok', 'resolved'],
    ['firing + well, held -> recovering', 5, standing('firing', 0, 0), false, 'recovering', null],
    ['recovering + well, too soon', 5, standing('recovering', now - MINUTE, 0), false, null, null],
    [
      'recovering + well, held -> resolved',
      5,
      standing('recovering', now - 5 * MINUTE, 0),
      false,
      'ok',
      'resolved',
    ],
    ['recovering + wrong -> firing, not told again', 5, standing('recovering', now, 0), true, 'firing', null],
    ['firing + not known -> nothing', 0, standing('firing', 0, 0), null, null, null],
    ['pending + not known -> nothing', 0, standing('pending', 0), null, null, null],
    [
      'firing for a day + wrong -> told again',
      0,
      standing('firing', now - REPEAT_MS, now - REPEAT_MS),
      true,
      'firing',
      'still_firing',
    ],
  ] as const) {
    const step = alertStep({ enabled: true, hold_minutes: hold }, before, { wrong }, now);
    t.same([step?.standing.status ?? null, step?.tell ?? null], [status, tell], name);
  }
});

t.test('a rule that is turned off tells nothing, and is forgotten', async (t) => {
  const off = { enabled: false, hold_minutes: 0 };
  t.equal(alertStep(off, WELL, { wrong: true }, 5), null);
  t.same(alertStep(off, standing('firing', 1, 1), { wrong: true }, 5), {
    standing: { status: 'ok', sinceMs: 5, firedMs: null, toldMs: null },
    tell: null,
  });
});

t.test('any course: told and resolved by turns, never before the hold, again once a day', async (t) => {
  const random = seeded(20_261_123);
  let told = 0;
  for (let course = 0; course < 400; course++) {
    const hold_minutes = Math.floor(random() * 4) * 5;
    let now = 1_000_000;
    let state: AlertStanding = WELL;
    let fires = false;
    let lastToldMs = 0;
    /** Since when every look found the same, those that found nothing out left aside. */
    let same = { wrong: false, sinceMs: now };
    for (let look = 0; look < 200; look++) {
      now += Math.floor(random() ** 3 * 10 * 3_600_000);
      const wrong: boolean | null = random() < 0.1 ? null : random() < (same.wrong ? 0.8 : 0.3);
      if (wrong !== null && wrong !== same.wrong) same = { wrong, sinceMs: now };
      const step = alertStep({ enabled: true, hold_minutes }, state, { wrong }, now);
      if (step === null) continue;
      state = step.standing;
      if (step.tell === null) continue;
      told++;
      const lasted = now - same.sinceMs;
      if (wrong === null) t.fail('told of what was not found out');
      if (step.tell === 'still_firing') {
        if (!fires || now - lastToldMs < REPEAT_MS) t.fail('told again too soon');
      } else {
        if ((step.tell === 'firing') === fires) t.fail(`${step.tell} twice`);
        if (lasted < hold_minutes * MINUTE) t.fail(`${step.tell} after ${lasted} ms`);
        fires = step.tell === 'firing';
      }
      if (step.tell !== 'resolved') lastToldMs = now;
    }
  }
  t.ok(told > 5_000, `${told} told`);
});
