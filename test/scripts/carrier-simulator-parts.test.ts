// Parts of the simulated carrier by themselves: signatures, sound, playout, TwiML, detection of machines.
import t from 'tap';
import twilio from 'twilio';
import wavefile from 'wavefile';
import { Faults } from '../../scripts/carrier-simulator/faults.ts';
import { Impairment } from '../../scripts/carrier-simulator/impairment.ts';
import { DECODE, encode, levelDb } from '../../scripts/carrier-simulator/mulaw.ts';
import { NETWORKS, parseFault } from '../../scripts/carrier-simulator/options.ts';
import { readOverrides, waitBefore } from '../../scripts/carrier-simulator/overrides.ts';
import { Playout } from '../../scripts/carrier-simulator/playout.ts';
import { createRandom } from '../../scripts/carrier-simulator/random.ts';
import { sign } from '../../scripts/carrier-simulator/signature.ts';
import { clipOf, resample, toneSamples, wavSamples } from '../../scripts/carrier-simulator/sound.ts';
import { parseTwiml } from '../../scripts/carrier-simulator/twiml.ts';

t.test('signatures are those of the carrier’s documentation and SDK', (t) => {
  // https://www.twilio.com/docs/usage/security#validating-requests
  const parameters = {
    CallSid: 'CA1234567890ABCDE',
    Caller: '+14158675310',
    Digits: '1234',
    From: '+14158675310',
    To: '+18005551212',
  };
  const url = 'https://mycompany.com/myapp.php?foo=1&bar=2';
  t.equal(sign('12345', url, parameters), 'GvWf1cFY/Q7PnoempGyD5oXAezc=');
  t.equal(sign('12345', 'wss://example.com/media', {}), '7PR3qMkpDyEJtMrVOY/LDyNq8J8=');
  const repeated = { MediaUrl: ['b', 'a', 'b'], empty: '' };
  t.equal(sign('12345', url, repeated), twilio.getExpectedTwilioSignature('12345', url, repeated));
  t.end();
});

t.test('mu-law decodes as another library does, and encodes back to the same byte', (t) => {
  const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
  const wave = new wavefile.WaveFile();
  wave.fromScratch(1, 8000, '8m', bytes);
  wave.fromMuLaw();
  t.same([...DECODE], [...wave.getSamples()]);
  // 0x7F, the other zero, comes back as 0xFF.
  t.same(
    [...encode(DECODE)],
    [...bytes].map((byte) => (byte === 0x7f ? 0xff : byte)),
  );
  t.equal(levelDb(Buffer.alloc(160, 0xff)), -100);
  t.ok(Math.abs(levelDb(Buffer.alloc(160, 0x80)) - 20 * Math.log10(32124 / 32768)) < 0.001);
  t.end();
});

t.test('resampling keeps a tone and removes what 8 kHz cannot carry', (t) => {
  for (const rateHz of [16_000, 22_050, 48_000]) {
    const power = (hz: number) => {
      const source = Float64Array.from(
        { length: rateHz },
        (_, i) => 10_000 * Math.sin((2 * Math.PI * hz * i) / rateHz),
      );
      const middle = resample(source, rateHz).subarray(2000, 6000);
      return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length);
    };
    t.ok(Math.abs(power(1000) / (10_000 / Math.SQRT2) - 1) < 0.02, `1 kHz from ${rateHz}`);
    t.ok(power(5500) < 150, `5.5 kHz from ${rateHz}`);
  }
  t.end();
});

t.test('a WAV file of any kind becomes 8 kHz mono', (t) => {
  const source = Array.from({ length: 4800 }, (_, i) =>
    Math.round(8000 * Math.sin((2 * Math.PI * 500 * i) / 48_000)),
  );
  const wave = new wavefile.WaveFile();
  wave.fromScratch(2, 48_000, '16', [source, source]);
  const samples = wavSamples(wave.toBuffer());
  t.equal(samples.length, 800);
  t.ok(Math.abs(samples[204]! - 8000 * Math.sin((2 * Math.PI * 500 * 204) / 8000)) < 200);
  const clip = clipOf('beep', toneSamples([1000], 500, -10));
  t.equal(clip.frames.length, 25);
  t.ok(clip.frames.every((frame) => frame.toneHz === 1000 && frame.base64.length === 216));
  t.end();
});

t.test('playout: bytes and marks in order, one frame per tick', (t) => {
  const playout = new Playout(() => 1);
  t.equal(playout.mark('empty'), 'at-once');
  playout.push(Buffer.alloc(240, 1));
  t.equal(playout.mark('a'), 'queued');
  playout.push(Buffer.alloc(160, 2));
  playout.mark('b');
  playout.mark('c');
  const ticks = Array.from({ length: 5 }, () => playout.pull());
  t.same(
    ticks.map(({ bytes, marks }) => [bytes, marks]),
    [
      [0, []],
      [160, []],
      [160, ['a']],
      [80, ['b', 'c']],
      [0, []],
    ],
  );
  t.same([...ticks[2]!.frame!], [...Buffer.alloc(80, 1), ...Buffer.alloc(80, 2)]);
  t.same([...ticks[3]!.frame!], [...Buffer.alloc(80, 2), ...Buffer.alloc(80, 0xff)], 'the rest is silence');
  t.end();
});

t.test('playout: clear returns all, ten minutes are the most', (t) => {
  const playout = new Playout();
  playout.push(Buffer.alloc(800));
  playout.mark('a');
  playout.push(Buffer.alloc(800));
  playout.mark('b');
  playout.pull();
  t.same(playout.clear(), { bytes: 1440, marks: ['a', 'b'] });
  t.equal(playout.bufferedBytes, 0);
  t.same(playout.pull().frame, null);
  t.equal(playout.push(Buffer.alloc(4_799_999)), 0);
  t.equal(playout.push(Buffer.alloc(160)), 159);
  t.equal(playout.bufferedBytes, 4_800_000);
  t.end();
});

t.test('playout: many small messages come out whole', (t) => {
  const playout = new Playout();
  const sent = Buffer.from(Array.from({ length: 7000 }, (_, i) => i % 251));
  for (let at = 0; at < sent.length; at += 7) playout.push(sent.subarray(at, at + 7));
  const parts: Buffer[] = [];
  for (let { frame, bytes } = playout.pull(); frame; { frame, bytes } = playout.pull())
    parts.push(frame.subarray(0, bytes));
  t.ok(Buffer.concat(parts).equals(sent));
  t.end();
});

t.test('TwiML: verbs, nouns and defaults', (t) => {
  const { verbs, warnings } = parseTwiml(`<?xml version="1.0"?>
    <Response>
      <!-- hello -->
      <Say voice="alice">Tom &amp; Jerry</Say>
      <Connect action="/after" method="get">
        <Stream url="wss://h/media"><Parameter name="a" value="1"/><Parameter name="b" value=""/></Stream>
      </Connect>
      <Dial timeout="7">+14155550100</Dial>
      <Reject/>
    </Response>`);
  t.same(warnings, []);
  t.match(verbs, [
    { verb: 'Say', text: 'Tom & Jerry', loop: 1 },
    {
      verb: 'Connect',
      action: '/after',
      method: 'GET',
      stream: { url: 'wss://h/media', parameters: { a: '1', b: '' } },
    },
    { verb: 'Dial', timeoutSeconds: 7, timeLimitSeconds: 14_400, numbers: [{ number: '+14155550100' }] },
    { verb: 'Reject', reason: 'rejected' },
  ]);
  t.end();
});

t.test('TwiML: what the carrier refuses, and what it warns of', (t) => {
  const codes: [string, number][] = [
    ['', 12100],
    ['<Response><Say>x</Response>', 12100],
    ['<response/>', 12100],
    ['<Response/><Response/>', 12100],
    ['<Response><Connect/></Response>', 12200],
    ['<Response><Connect><Stream url="wss://h" track="both_tracks"/></Connect></Response>', 31941],
    [`<Response><Say>${'x'.repeat(65_536)}</Say></Response>`, 11750],
  ];
  for (const [xml, code] of codes) {
    t.throws(() => parseTwiml(xml), { name: 'TwimlError', code }, `${code}: ${xml.slice(0, 40)}`);
  }
  const long = 'v'.repeat(499);
  const { verbs, warnings } = parseTwiml(
    '<Response><Sing/><Say vioce="x">a</Say><Connect><Stream url="wss://h">' +
      `<Parameter name="n" value="${long}"/><Parameter name="n" value="${long.slice(1)}"/></Stream></Connect></Response>`,
  );
  t.same(
    warnings.map((warning) => warning.code),
    [12200, 12200, 12200],
  );
  t.match(verbs[1], { verb: 'Connect', stream: { parameters: { n: long.slice(1) } } });
  t.end();
});

t.test('the network impairs as much as its profile says, and the same again with the same seed', (t) => {
  const fates = (seed: number) => {
    const impairment = new Impairment({ ...NETWORKS.bad, dtxChance: 0 }, createRandom(seed));
    return Array.from({ length: 100_000 }, () => impairment.next(-20));
  };
  const one = fates(3);
  t.same(one, fates(3));
  const lost = one.filter((fate) => fate.startsWith('lose')).length / one.length;
  t.ok(lost > 0.01 && lost < 0.03, `${lost} lost of 0.02`);
  // 200 ppm of 2000 s are 0.4 s: twenty frames, more or less those that were lost meanwhile.
  const skewed = one.filter((fate) => fate === 'repeat' || fate === 'omit').length;
  t.ok(skewed >= 19 && skewed <= 20, `${skewed} frames of clock skew`);
  t.end();
});

t.test('discontinuous transmission: nothing is sent after speech, until it begins again', (t) => {
  const network = { ...NETWORKS.clean, dtxChance: 1, dtxMs: [1000, 1000] as [number, number] };
  const impairment = new Impairment(network, createRandom(1));
  const course = (db: number, frames: number) =>
    Array.from({ length: frames }, () => impairment.next(db)).filter((fate) => fate !== 'send').length;
  t.equal(course(-70, 100), 0, 'silence at the start of a call is sent');
  t.equal(course(-20, 50), 0);
  t.equal(course(-70, 9), 0, 'a pause between syllables');
  t.equal(course(-20, 50), 0);
  t.equal(course(-70, 30), 21, 'after 200 ms nothing comes');
  t.equal(course(-20, 50), 0, 'speech comes at once');
  t.equal(course(-70, 200), 50, 'a second of nothing, then silence again');
  impairment.mute(400);
  t.equal(course(-20, 50), 20, 'muted: speech is lost too');
  t.end();
});

t.test('faults strike where they fit, and as often as they were told', (t) => {
  const faults = new Faults();
  faults.add(parseFault({ do: 'status', method: 'POST', path: '/Calls', times: 2 }));
  faults.add(parseFault({ do: 'latency', ms: 5, times: 0 }));
  t.equal(faults.take('status', { method: 'GET', path: '/Calls.json' }), null);
  t.ok(faults.take('status', { method: 'post', path: '/Calls.json' }));
  t.ok(faults.take('status', { method: 'POST', path: '/Calls.json' }));
  t.equal(faults.take('status', { method: 'POST', path: '/Calls.json' }), null);
  for (let i = 0; i < 5; i++) t.ok(faults.take('latency', {}));
  faults.clear();
  t.same(faults.list(), []);
  t.throws(() => parseFault({ do: 'explode' }));
  t.end();
});

t.test('the fragment of a hook’s URL says how it is tried', (t) => {
  const limits = { connectMs: 5000, totalMs: 15_000 };
  const plain = { url: 'http://x/a?b=c', connectMs: 5000, readMs: 15_000, totalMs: 15_000, retries: 1 };
  const cases: [string, Partial<ReturnType<typeof readOverrides>>, string[]][] = [
    ['', { wrong: null }, ['ct']],
    ['#', { wrong: null }, ['ct']],
    ['#rc=5&rp=all&tt=9000', { retries: 5, totalMs: 9000 }, ['ct', 'rt', '4xx', '5xx']],
    ['#rc=0', { retries: 0 }, ['ct']],
    ['#ct=100&rt=200&rp=5xx,rt', { connectMs: 100, readMs: 200 }, ['rt', '5xx']],
    ['#tt=15001', { wrong: 'HTTP retry policy is invalid: tt=15001' }, ['ct']],
    ['#rc=6&rp=rt', { wrong: 'HTTP retry policy is invalid: rc=6' }, ['rt']],
    ['#rp=6xx&rc=2', { retries: 2, wrong: 'HTTP retry policy is invalid: rp=6xx' }, ['ct']],
    ['#e=dublin', { wrong: null }, ['ct']],
  ];
  for (const [fragment, fields, retryOn] of cases) {
    const read = readOverrides(`http://x/a?b=c${fragment}`, limits);
    t.match(read, { ...plain, ...fields }, fragment);
    t.same([...read.retryOn], retryOn, fragment);
  }
  t.equal(
    readOverrides('http://x/#tt=9000', { connectMs: 1, totalMs: 200 }).totalMs,
    200,
    'the carrier’s own',
  );
  t.same(
    [1, 2, 3, 4, 5, 6].map((attempt) => waitBefore(attempt, true)),
    [0, 250, 500, 1000, 2000, 4000],
  );
  t.equal(waitBefore(2, false), 0);
  t.end();
});
