// Several carriers at once: each is found by its name, tells as itself, and one that is not set up refuses everything.
import t from 'tap';
import type { CarrierEvent } from '../../../bridge/carriers/carrier.ts';
import { createCarriers } from '../../../bridge/carriers/registry.ts';
import { standInCarrier } from './stand-in.ts';

t.test('each by its name, and the first that has numbers sells them', async (t) => {
  const page = standInCarrier({ name: 'page' });
  const one = standInCarrier({ name: 'one', numbers: {} });
  const two = standInCarrier({ name: 'two', numbers: {} });
  const carriers = createCarriers([page, one, two]);
  t.equal(carriers.named('two'), two);
  t.equal(carriers.seller()?.name, 'one');
  t.equal(createCarriers([page]).seller(), null);
  t.throws(() => createCarriers([one, two, one]), /one name/);
});

t.test('calls from a page are those of the carrier that is no telephone line', async (t) => {
  const line = standInCarrier({ name: 'line' });
  const page = standInCarrier({
    name: 'page',
    capabilities: { telephone: false, detectsMachines: false, streamIsCall: true, answerSeconds: 15 },
  });
  t.equal(createCarriers([line, page]).ofPages(), page);
  t.throws(() => createCarriers([line]).ofPages(), { code: 'carrier_error', retryable: false });
});

t.test('each tells as itself, until all are closed', async (t) => {
  const tellers = new Map<string, (event: CarrierEvent) => Promise<void>>();
  const closed: string[] = [];
  const make = (name: string) =>
    standInCarrier({
      name,
      async open(tell) {
        tellers.set(name, tell);
      },
      async close() {
        closed.push(name);
      },
    });
  const carriers = createCarriers([make('one'), make('two')]);
  const told: string[] = [];
  await carriers.open(async ({ name }, event) => void told.push(`${name} ${event.carrierCallId}`));
  const offered = { type: 'call-offered', to: '+14155550100', from: '+14155550001' } as const;
  await tellers.get('two')?.({ ...offered, carrierCallId: 'a' });
  await tellers.get('one')?.({ ...offered, carrierCallId: 'b' });
  t.same(told, ['two a', 'one b']);
  await carriers.close();
  t.same(closed.sort(), ['one', 'two']);
});

t.test('a carrier that is not set up any more refuses in words, and names itself', async (t) => {
  const { line, numbers, name } = createCarriers([]).named('gone');
  t.equal(name, 'gone');
  const refusal = { code: 'carrier_error', message: /gone is not set up/, retryable: false };
  await t.rejects(line.lookUp('CA1'), refusal);
  await t.rejects(line.hangUp('CA1', { answered: true }), refusal);
  await t.rejects(async () => numbers?.release('PN1'), refusal);
});
