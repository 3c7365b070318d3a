// What a telephone number says of itself. Ranges from outside the library stand in ranges.test.ts.
import t from 'tap';
import { numberFacts } from '../../../storage/outbound/number-facts.ts';

t.test('country, kind and zone', (t) => {
  const cases: [string, string | null, string, boolean, string][] = [
    ['+14155550123', 'US', 'fixed_line_or_mobile', true, 'America/Los_Angeles'],
    ['+12125550123', 'US', 'fixed_line_or_mobile', true, 'America/New_York'],
    ['+18089251571', 'US', 'fixed_line_or_mobile', true, 'Pacific/Honolulu'],
    ['+16045551234', 'CA', 'fixed_line_or_mobile', true, 'America/Vancouver'],
    ['+18765550100', 'JM', 'mobile', true, 'America/Jamaica'],
    ['+442079460000', 'GB', 'fixed_line', true, 'Europe/London'],
    ['+74951234567', 'RU', 'fixed_line', true, 'Europe/Moscow'],
    ['+5511987654321', 'BR', 'mobile', true, 'America/Sao_Paulo'],
    ['+6591234567', 'SG', 'mobile', true, 'Asia/Singapore'],
  ];
  for (const [number, country, kind, possible, zone] of cases) {
    t.strictSame(numberFacts(number), { country, kind, possible, zones: [zone] }, number);
  }
  t.end();
});

t.test('one that does not tell where it is may be anywhere in its country', (t) => {
  for (const [number, some] of [
    ['+18005551212', ['America/New_York', 'America/Chicago', 'Pacific/Honolulu']],
    ['+15550001111', ['America/New_York', 'America/Chicago', 'Pacific/Honolulu']],
    ['+79161234567', ['Europe/Moscow', 'Asia/Vladivostok']],
    ['+61412345678', ['Australia/Perth', 'Australia/Sydney']],
  ] as const) {
    const { zones } = numberFacts(number);
    for (const zone of some) t.ok(zones.includes(zone), `${number} ${zone}`);
  }
  t.notOk(numberFacts('+61291234567').zones.includes('Australia/Perth'));
  t.end();
});

t.test('what is no country’s, and what is no number', (t) => {
  for (const [number, kind] of [
    ['+870773111632', 'satellite'],
    ['+881612345678', 'satellite'],
    ['+88213123456', 'satellite'],
    ['+883510012345', 'satellite'],
    ['+979123456789', 'premium'],
    ['+80812345678', 'shared_cost'],
    ['+80012345678', 'toll_free'],
  ] as const) {
    t.strictSame(numberFacts(number), { country: null, kind, possible: true, zones: [] }, number);
  }
  for (const number of [
    '',
    'browser',
    '14155550123',
    '+0123456789',
    '+1',
    '+999123456789',
    '+1415555012345678',
  ]) {
    t.match(numberFacts(number), { country: null, possible: false, zones: [] }, number);
  }
  t.match(numberFacts('+15550000'), { country: 'US', kind: 'unassigned', possible: false });
  t.end();
});

t.test('a number that no range has is near to the one that begins as it does', (t) => {
  for (const [number, country, kind] of [
    ['+15550001111', 'US', 'unassigned'],
    ['+447700900123', 'GB', 'unassigned'],
    ['+19001111111', 'US', 'premium'],
    ['+4990012345', 'DE', 'premium'],
    ['+447012345', 'GB', 'personal'],
  ] as const) {
    t.match(numberFacts(number), { country, kind }, number);
  }
  t.end();
});
