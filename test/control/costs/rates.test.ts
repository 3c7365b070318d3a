// What a call cost: figures worked out by hand from the published rates, not by the code under test.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ConfigError } from '../../../config.ts';
import { costOf, numberPricesOf, RATES } from '../../../control/costs/rates.ts';
import { readRates } from '../../../control/costs/rates-file.ts';
import type { CallRecord } from '../../../storage/records.ts';
import { makeCall } from '../../storage/makers.ts';

const NAMES = { speech: 'gpt-realtime-2.1', transcription: 'gpt-transcribe', extraction: 'gpt-5.6-luna' };
const call = (fields: Partial<CallRecord>) =>
  makeCall('org', { carrier: 'twilio', billed_duration_seconds: 61, ...fields });

t.test('cached tokens are part of the input: taken out once, at their own rate', async (t) => {
  const usage = {
    input_text_tokens: 1_000_000,
    cached_text_tokens: 400_000,
    input_audio_tokens: 100_000,
    cached_audio_tokens: 50_000,
    output_text_tokens: 10_000,
    output_audio_tokens: 20_000,
  };
  const { model } = costOf(call({ usage }), NAMES, RATES);
  // $: 0.6*4 + 0.4*0.4 + 0.05*32 + 0.05*0.4 + 0.01*24 + 0.02*64 = 2.4 + 0.16 + 1.6 + 0.02 + 0.24 + 1.28 = 5.70
  t.equal(model.milli_cents, 570_000);
  t.same(model.used, usage, 'and the raw counts stay, to be counted again');
  const thrown = { thrown_away_input_tokens: 300, thrown_away_output_tokens: 20 };
  const unheard = costOf(call({ usage: { ...usage, ...thrown } }), NAMES, RATES).model;
  t.same(unheard.used, { ...usage, ...thrown }, 'what nobody heard is told apart');
  t.equal(unheard.milli_cents, 570_000, 'and is paid for once: it is among the others');
  const more = costOf(call({ usage: { ...usage, cached_text_tokens: 9_000_000 } }), NAMES, RATES);
  // Never less than nothing: 1.0*0.4 for all of the text.
  t.equal(more.model.milli_cents, 354_000);
});

t.test('transcription is a part of its own, by time or by tokens as its model counts', async (t) => {
  const usage = { transcription_seconds: 90 };
  const { model, transcription } = costOf(call({ usage }), NAMES, RATES);
  // 1.5 min * $0.0045 = $0.00675
  t.equal(transcription.milli_cents, 675);
  t.equal(model.milli_cents, 0);
  const tokens = { usage: { transcription_tokens: 1000 } };
  t.equal(costOf(call(tokens), NAMES, RATES).transcription.milli_cents, null, 'no rate by tokens is known');
  const own = {
    ...RATES,
    transcription: { 'gpt-transcribe': { usd_per_minute: 1, usd_per_million_tokens: 6 } },
  };
  t.equal(costOf(call(tokens), NAMES, own).transcription.milli_cents, 600);
});

t.test('a call from a browser costs its model, and no line', async (t) => {
  const usage = { output_audio_tokens: 1_000 };
  for (const sides of [
    { direction: 'inbound', to_number: '+442079460000', from_number: 'browser' },
    { direction: 'outbound', to_number: 'browser' },
  ] as const) {
    const cost = costOf(call({ carrier: 'browser', telephone: false, usage, ...sides }), NAMES, RATES);
    t.match(cost.carrier, { name: 'browser', milli_cents: 0, used: { minutes: 2 } });
    // 1,000 tokens at $64 a million.
    t.equal(cost.total_milli_cents, 6_400);
  }
});

t.test('the carrier counts begun minutes, by direction and country', async (t) => {
  const carrier = (fields: Partial<CallRecord>) => costOf(call(fields), NAMES, RATES).carrier;
  // 2 begun minutes * ($0.0140 + $0.0040) + $0.0075 of detection = $0.0435
  t.match(carrier({}), { name: 'twilio', milli_cents: 4350, used: { minutes: 2, machine_detections: 1 } });
  // 2 * ($0.0085 + $0.0040)
  t.match(carrier({ direction: 'inbound' }), { milli_cents: 2500, used: { machine_detections: 0 } });
  t.equal(carrier({ to_number: '+14165550100' }).milli_cents, 4350, 'Canada');
  t.equal(carrier({ to_number: '+442079460000' }).milli_cents, null, 'no rate is known');
  t.equal(carrier({ to_number: '+18765550100' }).milli_cents, null, 'Jamaica, though it dials +1');
  t.equal(carrier({ carrier: 'other' }).milli_cents, null);
  t.equal(
    carrier({ to_number: '+442079460000', billed_duration_seconds: null }).milli_cents,
    0,
    'nobody talked',
  );
});

t.test('the total is the sum of the parts, and null when one is not known', async (t) => {
  const it = call({
    usage: { output_audio_tokens: 1000, transcription_seconds: 60 },
    extraction_usage: { attempts: 1, input_tokens: 2000, cached_tokens: 1000, output_tokens: 500 },
  });
  const cost = costOf(it, NAMES, RATES);
  // $0.064, $0.0045, (1000*0.2 + 1000*0.02 + 500*1.2)/1e6 = $0.00082, $0.0435
  t.same(
    [cost.model, cost.transcription, cost.extraction, cost.carrier].map((part) => part.milli_cents),
    [6400, 450, 82, 4350],
  );
  t.equal(cost.total_milli_cents, 11_282);
  t.match(cost, { estimate: true, as_of: RATES.as_of });
  const unknown = costOf(it, { ...NAMES, speech: 'a-model-of-ones-own' }, RATES);
  t.same([unknown.model.milli_cents, unknown.total_milli_cents], [null, null]);
  t.equal(unknown.carrier.milli_cents, 4350, 'what is known is still told');
  const dated = costOf(it, { ...NAMES, speech: 'gpt-realtime-2.1-2026-05-01' }, RATES);
  t.equal(dated.model.milli_cents, 6400, 'a dated snapshot costs what its model costs');
  t.equal(costOf(it, { ...NAMES, speech: 'constructor' }, RATES).model.milli_cents, null);
});

t.test('nothing used costs nothing, whatever is known', async (t) => {
  const cost = costOf(
    call({ billed_duration_seconds: null, carrier: 'other' }),
    { speech: 'x', transcription: 'y', extraction: 'z' },
    RATES,
  );
  t.equal(cost.total_milli_cents, 0);
});

t.test("the operator's file goes over the rates that come along, and says its own day", async (t) => {
  const file = join(t.testdir(), 'rates.json');
  writeFileSync(
    file,
    JSON.stringify({
      as_of: '2027-02-01',
      extraction: { 'my-model': { input: 1, cached: 1, output: 1 } },
      carriers: {
        twilio: { outbound_minute: { DE: 0.1 }, inbound_minute: {}, stream_minute: 0, machine_detection: 0 },
      },
    }),
  );
  const rates = readRates(file);
  t.equal(rates.as_of, '2027-02-01');
  t.same(rates.speech, RATES.speech);
  t.same(Object.keys(rates.extraction), ['gpt-5.6-luna', 'my-model']);
  const german = costOf(call({ to_number: '+49301234567' }), NAMES, rates);
  t.same([german.carrier.milli_cents, german.as_of], [20_000, '2027-02-01']);
  t.equal(readRates(null), RATES);

  writeFileSync(
    file,
    JSON.stringify({
      as_of: '2027-02-01',
      carriers: {
        twilio: {
          outbound_minute: {},
          inbound_minute: {},
          stream_minute: 0,
          machine_detection: 0,
          number_month: { DE: { local: 1.5, national: 0 } },
        },
      },
    }),
  );
  t.same(numberPricesOf(readRates(file), 'twilio', 'DE'), { local: 150, national: 0 });
  t.same(numberPricesOf(readRates(file), 'twilio', 'FR'), {});
  t.same(numberPricesOf(RATES, 'twilio', 'DE'), {}, 'the list that comes along names none');

  const refuse = (text: string, why: RegExp) => {
    writeFileSync(file, text);
    t.throws(() => readRates(file), new ConfigError(), text);
    t.throws(() => readRates(file), { message: why }, text);
  };
  refuse('{', /no JSON/);
  refuse('{}', /as_of/);
  refuse('{"as_of":"2027-02-31"}', /as_of/);
  refuse('{"as_of":"2027-02-01","extraction":{"m":{"input":-1,"cached":0,"output":0}}}', /input/);
  refuse('{"as_of":"2027-02-01","rates":{}}', /rates/);
  t.throws(() => readRates(join(t.testdirName, 'nothing.json')), { message: /cannot be read/ });
});
