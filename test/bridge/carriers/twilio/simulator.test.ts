// What is Twilio's own, against the carrier simulator over real sockets: nothing it counts as a fault, marks that a clear
// sends back, machines, a stream that cannot be opened, an answer to a purchase that is lost. The rest is conformance.test.ts.
import t from 'tap';
import { CALL, CALLEE, openSimulated } from './simulated.ts';

t.test('a call out breaks no rule of the carrier, and a clear sends its marks back', async (t) => {
  const made = await openSimulated(t);
  made.onMedia((message, wire, send) => {
    if (message.type === 'started') {
      const { streamId } = message;
      send((out) => wire.audio(out, streamId, Buffer.alloc(320, 0x55)));
      send((out) => wire.mark(out, streamId, 'g1:320'));
      send((out) => wire.audio(out, streamId, Buffer.alloc(160_000, 0x55)));
      send((out) => wire.mark(out, streamId, 'g1:end'));
    }
    if (message.type === 'mark' && message.name === 'g1:320') {
      t.ok(wire.clearReturnsMarks);
      const started = made.media.find((one) => one.type === 'started');
      send((out) => wire.clear(out, started?.streamId ?? ''));
    }
  });
  const { carrierCallId } = await made.place();
  await made.until(() => made.media.filter((message) => message.type === 'mark').length === 2);
  await made.until(() => made.media.filter((message) => message.type === 'audio').length > 10);
  t.equal(await made.carrier.line.hangUp(carrierCallId, { answered: true }), 'ended');
  await made.ended();
  t.same(made.media[0], { type: 'connected' });
  t.match(made.media[1], {
    type: 'started',
    carrierCallId,
    parameters: { callId: CALL, token: made.stream.token },
    format: { encoding: 'mulaw', rateHz: 8000 },
  });
  t.same(
    made.media.filter((message) => message.type === 'mark'),
    [
      { type: 'mark', name: 'g1:320' },
      { type: 'mark', name: 'g1:end' },
    ],
  );
  const audio = made.media.filter((message) => message.type === 'audio');
  t.ok(audio.every((message) => message.payload.length === 160));
  t.same(
    audio.map((message) => message.chunk),
    audio.map((_, n) => n + 1),
  );
  t.same(
    made.media.filter((message) => message.type === 'malformed' || message.type === 'ignored'),
    [],
  );
  const statuses = made.told.flatMap((event) => (event.type === 'status' ? [event.status] : []));
  t.same(statuses.sort(), ['answered', 'completed', 'initiated', 'ringing']);
  const report = made.simulator.call(carrierCallId)!;
  t.same(report.violations, []);
  t.same(report.errors, []);
});

t.test('a call that is not answered says why, by SIP', async (t) => {
  const made = await openSimulated(t, { callees: { [CALLEE]: { outcome: 'busy', ringMs: 10 } } });
  await made.place();
  await made.ended();
  t.match(
    made.told.find((event) => event.type === 'status' && event.status === 'busy'),
    { cause: /^SIP \d{3}$/ },
  );
});

t.test('a machine answers', async (t) => {
  const made = await openSimulated(t, {
    callees: { [CALLEE]: { ringMs: 10, amd: { verdict: 'machine_end_beep', afterMs: 50 } } },
  });
  const { carrierCallId } = await made.place({ machineDetection: 'message_end' });
  await made.until(() => made.told.some((event) => event.type === 'machine-detection'));
  t.match(
    made.told.find((event) => event.type === 'machine-detection'),
    { callId: CALL, carrierCallId, verdict: 'machine_ready', raw: 'machine_end_beep' },
  );
  await made.carrier.line.hangUp(carrierCallId, { answered: true });
  await made.ended();
});

t.test('key tones and a transfer that fails are no errors of the call', async (t) => {
  const made = await openSimulated(t);
  const started = () => made.media.filter((message) => message.type === 'started').length;
  const { carrierCallId } = await made.place();
  await made.until(() => started() === 1);
  await made.carrier.line.sendKeys(carrierCallId, '12#', { callId: CALL });
  await made.until(() => started() === 2);
  await made.carrier.line.transfer(carrierCallId, made.world.numbers.busy, {
    callId: CALL,
    from: made.world.own,
  });
  await made.until(() => started() === 3);
  made.onWaiting(async () => {});
  await made.carrier.line.hangUp(carrierCallId, { answered: true });
  await made.ended();
  t.same(made.simulator.call(carrierCallId)!.errors, []);
});

t.test('a number whose purchase is not answered is bought once', async (t) => {
  const made = await openSimulated(t, {
    faults: [{ do: 'lose_response', method: 'POST', path: '/IncomingPhoneNumbers.json' }],
  });
  const numbers = made.carrier.numbers!;
  const [found] = await numbers.search({ country: 'US', type: 'local', areaCode: '415', limit: 1 });
  const order = { e164: found?.e164 ?? '', friendlyName: 'Front desk' };
  const bought = await numbers.buy(order);
  t.match(bought, { ...order, countryCode: 'US', monthlyCostCents: found?.monthly_cost_cents });
  t.same(await numbers.adopt(order), bought);
});

t.test('a stream that cannot be opened is told, and the call ends', async (t) => {
  const made = await openSimulated(t, { faults: [{ do: 'stream_refuse' }] });
  made.onWaiting(async (event) => {
    if (event.type === 'stream-wanted') await made.carrier.line.connect(event.carrierCallId, made.stream);
  });
  const { carrierCallId } = await made.place();
  await made.until(() => made.told.some((event) => event.type === 'stream-failed'));
  t.match(
    made.told.find((event) => event.type === 'stream-failed'),
    { callId: CALL, carrierCallId, error: String },
  );
  await made.ended();
});
