// Which speech models there are, by what the settings and MODELS_FILE say.
import t, { type Test } from 'tap';
import { readConfig } from '../../../config.ts';
import { readSpeechModels } from '../../../control/agents/speech-models.ts';
import { modelsFile } from '../rig.ts';

const read = (t: Test, models?: unknown) =>
  readSpeechModels(
    readConfig({
      OPENAI_API_KEY: 'key-of-the-settings',
      ...(models === undefined ? {} : { MODELS_FILE: modelsFile(t, models) }),
    }),
  );

t.test('the settings alone: one model, the default, by its own name', async (t) => {
  const models = read(t);
  t.same(models.names, ['gpt-realtime-2.1']);
  t.equal(models.defaultName, 'gpt-realtime-2.1');
  t.same(models.access('gpt-realtime-2.1'), {
    kind: 'openai',
    url: 'https://api.openai.com/v1',
    apiKey: 'key-of-the-settings',
    model: 'gpt-realtime-2.1',
    transcriptionModel: 'gpt-transcribe',
  });
  t.equal(models.access('other'), null);
  t.equal(models.access('__proto__'), null);
});

t.test('a file: several at once; what one leaves out is as in the settings', async (t) => {
  const models = read(t, {
    mini: { model: 'gpt-realtime-2.1-mini' },
    'in-house': {
      kind: 'openai',
      model: 'local',
      base_url: 'http://10.0.0.5:8000/v1/',
      api_key: 'key-of-the-house',
      transcription_model: 'whisper',
    },
  });
  t.same(models.names, ['gpt-realtime-2.1', 'mini', 'in-house']);
  t.match(models.access('mini'), {
    apiKey: 'key-of-the-settings',
    model: 'gpt-realtime-2.1-mini',
    transcriptionModel: 'gpt-transcribe',
  });
  t.same(models.access('in-house'), {
    kind: 'openai',
    url: 'http://10.0.0.5:8000/v1',
    apiKey: 'key-of-the-house',
    model: 'local',
    transcriptionModel: 'whisper',
  });
  t.same(models.secrets, ['key-of-the-house'], 'for the log to keep to itself');
});

t.test('a file that cannot be used says where it is wrong', async (t) => {
  for (const [models, why] of [
    [{ mini: {} }, /model/],
    [{ mini: { model: 'x', kind: 'carrier-pigeon' } }, /must be one of openai.*kind/],
    [{ mini: { model: 'x', base_url: 'ftp://x' } }, /base_url/],
    [{ mini: { model: 'x', secret: 'y' } }, /secret/],
    [{ 'a b': { model: 'x' } }, /a b/],
    [{ 'gpt-realtime-2.1': { model: 'x' } }, /REALTIME_MODEL/],
    [[], /MODELS_FILE/],
  ] as const) {
    t.throws(() => read(t, models), { message: why });
  }
  t.throws(() => readSpeechModels(readConfig({ MODELS_FILE: '/nowhere.json' })), /cannot be read/);
});
