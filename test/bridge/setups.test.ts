// Which settings are missing, by what each carrier and model needs; and that whatever is set up can be opened.
import t from 'tap';
import { openCarriers } from '../../bridge/carriers/carriers.ts';
import { mediaCarriers } from '../../bridge/carriers/media.ts';
import { models } from '../../bridge/models/models.ts';
import { carrierSetups, missingSettings, modelSetupOf, modelSetups } from '../../bridge/setups.ts';
import { readConfig, SETTINGS } from '../../config.ts';
import { openLog } from '../../log.ts';

t.test('of nothing set, those of the first carrier and the default model are missing', async (t) => {
  t.same(missingSettings(readConfig({})), ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN', 'OPENAI_API_KEY']);
  t.same(missingSettings(readConfig({ TWILIO_ACCOUNT_SID: 'AC1', OPENAI_API_KEY: 'k' })), [
    'TWILIO_AUTH_TOKEN',
  ]);
  const all = { TWILIO_ACCOUNT_SID: 'AC1', TWILIO_AUTH_TOKEN: 't', OPENAI_API_KEY: 'k' };
  t.same(missingSettings(readConfig(all)), []);
});

t.test('of several carriers only those that are wanted must be whole', async (t) => {
  const [first, second] = [
    { needs: ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'] },
    { needs: ['REDIS_URL', 'RATES_FILE'] },
  ] as const;
  const missing = (env: Record<string, string>) =>
    missingSettings(readConfig(env), [first, second], [{ needs: [] }]);
  t.same(missing({ REDIS_URL: 'r', RATES_FILE: 'f' }), [], 'the other one alone will do');
  t.same(missing({ REDIS_URL: 'r' }), ['RATES_FILE']);
  t.same(missing({ REDIS_URL: 'r', TWILIO_AUTH_TOKEN: 't' }), ['TWILIO_ACCOUNT_SID', 'RATES_FILE']);
  t.same(missing({}), ['TWILIO_ACCOUNT_SID', 'TWILIO_AUTH_TOKEN'], 'one of them it must be');
});

t.test('every carrier that is set up is opened, in its own name, and has its media side', async (t) => {
  const needed = carrierSetups.flatMap(({ needs }) => needs.map((name) => [name, 'set'] as const));
  const opened = (env: Record<string, string>) =>
    openCarriers(readConfig(env), {
      publicUrl: 'https://calls.example.com',
      log: openLog('silent', []),
      strangers: { saw() {} },
      clientOf: () => ({ address: '127.0.0.1', shared: false }),
      numberPrices: () => ({}),
      lastSeen: async () => null,
    }).all.map(({ name }) => name);
  const names = opened(Object.fromEntries(needed));
  for (const { name } of carrierSetups) {
    t.ok(names.includes(name), `${name} is opened`);
    t.notOk(opened({}).includes(name), `${name} is not, without its settings`);
  }
  t.same(names.toSorted(), Object.keys(mediaCarriers).sort());
});

t.test('every kind of model has its sessions, and settings that there are', async (t) => {
  t.same(modelSetups.map(({ kind }) => kind).toSorted(), Object.keys(models).sort());
  for (const setup of modelSetups) {
    t.ok(setup.voices.includes(setup.defaultVoice));
    t.ok(setup.formats.length > 0);
    for (const name of [...setup.needs, ...Object.values(setup.settings)])
      t.ok(Object.hasOwn(SETTINGS, name));
    t.equal(modelSetupOf(setup.kind), setup);
  }
  t.throws(() => modelSetupOf('toString'), /no kind "toString"/);
});
