// Whom the daemon speaks to, by address, and what its latencies are called then.
import t from 'tap';
import { readConfig } from '../../../config.ts';
import { readSpeechModels } from '../../../control/agents/speech-models.ts';
import { measured } from '../../../control/dashboard/app/measured.ts';
import { peerOf, peersOf } from '../../../control/dashboard/peers.ts';
import { modelsFile } from '../rig.ts';

t.test('a peer by its address', async (t) => {
  for (const [url, vendor, host, place] of [
    ['https://api.twilio.com', 'twilio.com', 'api.twilio.com', 'vendor'],
    ['https://api.dublin.ie1.twilio.com', 'twilio.com', 'api.dublin.ie1.twilio.com', 'vendor'],
    ['https://api.openai.com/v1', 'openai.com', 'api.openai.com', 'vendor'],
    ['https://eu.api.openai.com/v1', 'openai.com', 'eu.api.openai.com', 'vendor'],
    ['https://nottwilio.com', 'twilio.com', 'nottwilio.com', 'elsewhere'],
    ['https://twilio.com.example.org', 'twilio.com', 'twilio.com.example.org', 'elsewhere'],
    ['http://127.0.0.1:4010', 'twilio.com', '127.0.0.1:4010', 'this_machine'],
    ['http://127.9.9.9:1', 'twilio.com', '127.9.9.9:1', 'this_machine'],
    ['http://localhost:4011/v1', 'openai.com', 'localhost:4011', 'this_machine'],
    ['http://[::1]:4011/v1', 'openai.com', '[::1]:4011', 'this_machine'],
    ['http://127.0.0.1.example.org', 'openai.com', '127.0.0.1.example.org', 'elsewhere'],
    ['http://10.0.0.7:8000/v1', 'openai.com', '10.0.0.7:8000', 'elsewhere'],
  ] as const) {
    t.same(peerOf(url, vendor), { host, place }, url);
  }
});

function configured(env: Record<string, string>): Parameters<typeof peersOf> {
  const config = readConfig({
    TWILIO_ACCOUNT_SID: 'AC1',
    TWILIO_AUTH_TOKEN: 't',
    OPENAI_API_KEY: 'k',
    ...env,
  });
  return [config, readSpeechModels(config)];
}

t.test('what a latency is called', async (t) => {
  const of = (TWILIO_BASE_URL: string, OPENAI_BASE_URL: string) =>
    measured(peersOf(...configured({ TWILIO_BASE_URL, OPENAI_BASE_URL })));
  const [twilio, openai] = ['https://api.twilio.com', 'https://api.openai.com/v1'];
  const here = 'http://127.0.0.1:4010';
  t.same(of(twilio, openai), { simulated: false, against: null });
  t.same(of(here, here), { simulated: true, against: 'carrier and model on this machine' });
  t.same(of(here, openai), { simulated: true, against: 'carrier on this machine' });
  t.same(of(twilio, here), { simulated: false, against: 'model on this machine' });
  t.same(of('https://voice.example.org', here), {
    simulated: false,
    against: 'model on this machine, carrier voice.example.org',
  });
});

t.test('of several models each counts, and a carrier without its settings does not', async (t) => {
  const MODELS_FILE = modelsFile(t, {
    house: { model: 'local', base_url: 'http://10.0.0.7:8000/v1' },
    mini: { model: 'mini' },
  });
  t.equal(measured(peersOf(...configured({ MODELS_FILE }))).against, 'model 10.0.0.7:8000');
  const here = { TWILIO_BASE_URL: 'http://127.0.0.1:1', TWILIO_AUTH_TOKEN: '' };
  t.same(measured(peersOf(...configured(here))), { simulated: false, against: null });
});
