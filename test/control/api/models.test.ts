// GET /v1/models, and the voices that go with a model.
import t from 'tap';
import { voiceOf } from '../../../control/api/agent-voice.ts';
import { modelsFile, openRig } from '../rig.ts';

t.test(
  'every configured model, the default first, with what helps to choose and nothing of how it is reached',
  async (t) => {
    const MODELS_FILE = modelsFile(t, {
      mini: { model: 'gpt-realtime-2.1-mini' },
      house: { model: 'local', base_url: 'http://10.0.0.5:8000/v1', api_key: 'key-of-the-house' },
    });
    const rig = await openRig(t, { env: { MODELS_FILE } });
    const { status, body, text } = await rig.api('GET', '/v1/models');
    t.equal(status, 200);
    t.match(body.data, [
      { name: 'gpt-realtime-2.1', model: 'gpt-realtime-2.1', is_default: true },
      { name: 'mini', model: 'gpt-realtime-2.1-mini', is_default: false },
      { name: 'house', model: 'local', is_default: false },
    ]);
    for (const model of body.data) {
      t.match(model, {
        kind: 'openai',
        default_voice: 'marin',
        audio_formats: [{ encoding: 'mulaw', rate_hz: 8000 }],
        capabilities: { truncates: true, says_lines: false, calls_tools: true },
      });
      t.ok(model.voices.includes(model.default_voice));
    }
    t.notMatch(text, /10\.0\.0\.5|key-of-the-house/);

    for (const { name, voices } of body.data) {
      const agent = { name, type: 'inbound', model: name, voice: voices[0] };
      t.match((await rig.api('POST', '/v1/agents', { body: agent })).body, { model: name, voice: voices[0] });
    }
  },
);

t.test('a voice: the model’s own default, one of its own, and no other', async (t) => {
  const model = { voices: ['ada', 'bea'], defaultVoice: 'bea' };
  t.equal(voiceOf(model, undefined), 'bea');
  t.equal(voiceOf(model, 'ada'), 'ada');
  t.throws(() => voiceOf(model, 'marin'), { code: 'invalid_voice', param: 'voice', message: /ada, bea/ });
});
