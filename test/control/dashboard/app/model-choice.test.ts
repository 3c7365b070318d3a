// What can be chosen for an agent: the daemon's models, and the voices of the one that is chosen.
import t from 'tap';
import {
  modelChoices,
  modelLimits,
  voiceChoices,
  withModel,
} from '../../../../control/dashboard/app/forms/model-choice.ts';
import type { SpeechModel } from '../../../../control/sdk/index.ts';

const model = (name: string, fields: Partial<SpeechModel> = {}): SpeechModel => ({
  name,
  is_default: false,
  kind: 'one',
  model: name,
  voices: ['ada', 'bea'],
  default_voice: 'bea',
  audio_formats: [],
  capabilities: { truncates: true, says_lines: false, calls_tools: true },
  ...fields,
});
const MODELS = [
  model('large', { is_default: true }),
  model('other', {
    voices: ['bea', 'cleo'],
    default_voice: 'cleo',
    capabilities: { truncates: true, says_lines: true, calls_tools: false },
  }),
];
const values = (choices: { value: string }[]) => choices.map(({ value }) => value);

t.test('models: the default without a name, the others, and one that is not set up any more', async (t) => {
  t.same(modelChoices(MODELS, ''), [
    { value: '', label: 'the default (large)' },
    { value: 'other', label: 'other' },
  ]);
  t.same(values(modelChoices(MODELS, 'large')), ['', 'large', 'other'], 'pinned by its name');
  t.match(modelChoices(MODELS, 'gone').at(-1), { value: 'gone', label: /not set up/ });
  t.same(modelChoices(undefined, 'other'), [{ value: 'other', label: 'other' }], 'until they are loaded');
});

t.test('voices: those of the model, its default first, and one that it does not have', async (t) => {
  t.same(voiceChoices(MODELS, { model: '', voice: '' }), [
    { value: '', label: 'bea (default)' },
    { value: 'ada', label: 'ada' },
  ]);
  t.same(values(voiceChoices(MODELS, { model: '', voice: 'ada' })), ['bea', 'ada']);
  t.same(values(voiceChoices(MODELS, { model: 'other', voice: 'ada' })), ['cleo', 'bea', 'ada']);
  t.same(values(voiceChoices(undefined, { model: '', voice: 'ada' })), ['ada']);
  t.same(values(voiceChoices(MODELS, { model: 'gone', voice: 'ada' })), ['ada']);
});

t.test('a voice that the chosen model has stays, any other becomes its default', async (t) => {
  t.same(withModel(MODELS, { voice: 'bea' }, 'other'), { model: 'other', voice: 'bea' });
  t.same(withModel(MODELS, { voice: 'ada' }, 'other'), { model: 'other', voice: 'cleo' });
  t.same(withModel(MODELS, { voice: '' }, 'other'), { model: 'other', voice: '' });
  t.same(withModel(undefined, { voice: 'ada' }, 'other'), { model: 'other', voice: 'ada' });
});

t.test('a model without tools says so', async (t) => {
  t.equal(modelLimits(MODELS, ''), '');
  t.match(modelLimits(MODELS, 'other'), /tools/);
});
