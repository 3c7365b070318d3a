// The gate with its facts out of a real store: calls, rules, the list, consents and time at random, against a reading of
// what was done so far that knows no SQL.
import t from 'tap';
import type { GateCode, GateOverride } from '../../../storage/outbound/outbound-records.ts';
import { GATE_CODES } from '../../../storage/outbound/outbound-records.ts';
import { openStore } from '../../../storage/sqlite/store.ts';
import { RUNS, SEED } from '../../bridge/seed.ts';
import { seeded } from '../../random.ts';
import { addOrganization, makeCall } from '../makers.ts';

const DAY_MS = 86_400_000;
const ADA = { kind: 'user' as const, id: 'u', name: 'Ada' };
const NUMBERS = [
  '+14155550101',
  '+14155550102',
  '+14155550103',
  '+14155550104',
  '+19005551234',
  '+442079460123',
];

t.test('what goes out is what the rules and everything done so far let out', async (t) => {
  const random = seeded(SEED);
  t.comment(`seed ${SEED}`);
  const pick = <T>(from: readonly T[]) => from[Math.floor(random() * from.length)] as T;
  let ms = Date.parse('2026-03-02T18:00:00.000Z');
  const store = await openStore({ path: ':memory:', now: () => new Date(ms) });
  t.teardown(() => store.close());
  const orgs = [await addOrganization(store), await addOrganization(store)];
  const known = new Map(
    orgs.map((org) => [
      org,
      {
        placed: [] as { to: string; at: number }[],
        list: new Map<string, string>(),
        consents: new Map<string, string>(),
        daily: null as number | null,
        minutely: null as number | null,
        consent: 'none' as 'none' | 'required',
        hours: false,
        refused: 0,
      },
    ]),
  );
  const sums = { out: 0, refused: 0, overridden: 0 };
  for (let step = 0; step < 3_000 * RUNS; step++) {
    ms += Math.floor(random() * (random() < 0.05 ? DAY_MS : 8_000));
    const org = pick(orgs);
    const of = known.get(org);
    if (of === undefined) throw new Error('no such organization');
    const to = pick(NUMBERS);
    const draw = random();
    if (draw < 0.04) {
      const [entry] = await store.addDoNotCall(org, [{ number: to, source: 'api' }]);
      of.list.set(to, entry?.id ?? '');
    } else if (draw < 0.08) {
      const id = of.list.get(to);
      if (id !== undefined) t.ok(await store.removeDoNotCall(org, id));
      of.list.delete(to);
    } else if (draw < 0.12) {
      const given_at = new Date(ms).toISOString();
      for (const one of [of.consents.get(to)]) if (one !== undefined) await store.revokeConsent(org, one);
      const [consent] = await store.addConsents(org, [{ number: to, purpose: 'p', source: 's', given_at }]);
      of.consents.set(to, consent?.id ?? '');
    } else if (draw < 0.15) {
      const id = of.consents.get(to);
      if (id !== undefined) await store.revokeConsent(org, id);
      of.consents.delete(to);
    } else if (draw < 0.2) {
      of.daily = random() < 0.3 ? null : Math.floor(random() * 5);
      of.minutely = random() < 0.3 ? null : Math.floor(random() * 9);
      of.consent = random() < 0.3 ? 'required' : 'none';
      of.hours = random() < 0.4;
      const calling_hours = of.hours
        ? { from: '08:00', to: '21:00', days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const }
        : null;
      const set = {
        calls_per_destination_per_day: of.daily,
        calls_per_minute: of.minutely,
        consent: of.consent,
        calling_hours,
      };
      await store.setOutboundRules(org, { set, unset: [] }, ADA);
    } else {
      const codes = new Set<GateCode>();
      if (to.startsWith('+1900')) codes.add('destination_closed');
      if (to.startsWith('+44')) codes.add('destination_not_allowed');
      if (of.list.has(to)) codes.add('do_not_call');
      if (of.consent === 'required' && !of.consents.has(to)) codes.add('consent_missing');
      const clock = (timeZone: string) => new Date(ms).toLocaleTimeString('sv-SE', { timeZone });
      // The premium number may be anywhere in its country: from Honolulu to New York, or Adak in its summer.
      const zones = to.startsWith('+44')
        ? ['Europe/London']
        : to.startsWith('+1900')
          ? ['Pacific/Honolulu', 'America/Adak', 'America/New_York']
          : ['America/Los_Angeles'];
      if (of.hours && zones.some((zone) => clock(zone) < '08:00' || clock(zone) >= '21:00'))
        codes.add('outside_calling_hours');
      const daily = of.placed.filter((one) => one.to === to && one.at > ms - DAY_MS).length;
      if (of.daily !== null && daily >= of.daily) codes.add('too_many_to_destination');
      // By whole seconds: the one that began a minute ago counts still.
      const minutely = of.placed.filter(
        ({ at }) => Math.floor(at / 1000) >= Math.floor(ms / 1000) - 60,
      ).length;
      if (of.minutely !== null && minutely >= of.minutely) codes.add('calls_per_minute');
      const override: GateOverride | undefined =
        random() < 0.2 ? { by: ADA, codes: GATE_CODES.filter(() => random() < 0.8), reason: 'r' } : undefined;
      const left = [...codes].filter((code) => !override?.codes.includes(code));
      const call = makeCall(org, { to_number: to, created_at: new Date(ms).toISOString() });
      const asked = await store.createCall(call, { events: ['call.queued'], reserve: 0, override });
      const told = { step, to, time: new Date(ms).toISOString(), codes: [...codes], asked };
      if ('conflict' in asked) {
        sums.refused += 1;
        of.refused += 1;
        if (!left.includes(asked.refusal?.code as GateCode)) t.fail('refused without reason', told);
        t.same(new Set(asked.refusal?.codes), codes);
        if ((await store.findCall(call.id)) !== null) t.fail('it is there all the same', told);
      } else {
        sums.out += 1;
        if (left.length > 0) t.fail('it goes out', told);
        if (codes.size > 0) sums.overridden += 1;
        t.same(new Set(asked.gate?.overridden?.codes ?? []), codes);
        of.placed.push({ to, at: ms });
      }
    }
  }
  t.comment(`${sums.out} went out, ${sums.overridden} by an override; ${sums.refused} were refused`);
  t.ok(sums.out > 200 && sums.refused > 200 && sums.overridden > 20);
  for (const [org, of] of known) {
    const counted = await store.listRefusedCalls(org, {}, { limit: 10_000 });
    t.equal(counted.length, Math.min(of.refused, 10_000), 'each refusal is written down');
  }
});
