// Which speech models and voices can be chosen for an agent, by what the daemon has. PURE. Until that is known, and where it
// does not have them any more, what the agent has is the choice.
import type { SpeechModel } from '../../../sdk/index.ts';

export interface Choice {
  value: string;
  label: string;
}

/** The model that leads the calls of an agent with this one; empty: the default. */
function modelNamed(models: readonly SpeechModel[], name: string): SpeechModel | undefined {
  return models.find((model) => (name === '' ? model.is_default : model.name === name));
}

/** @param chosen the name that the agent has; empty: the default */
export function modelChoices(models: readonly SpeechModel[] | undefined, chosen: string): Choice[] {
  if (models === undefined) return [{ value: chosen, label: chosen === '' ? 'the default' : chosen }];
  const standard = modelNamed(models, '');
  const others = models.filter((model) => !model.is_default || model.name === chosen);
  return [
    { value: '', label: standard === undefined ? 'the default' : `the default (${standard.name})` },
    ...others.map(({ name }) => ({ value: name, label: name })),
    ...(chosen === '' || modelNamed(models, chosen) !== undefined
      ? []
      : [{ value: chosen, label: `${chosen} (not set up)` }]),
  ];
}

/** The model's own default first. @param form empty: the default of either */
export function voiceChoices(
  models: readonly SpeechModel[] | undefined,
  form: { model: string; voice: string },
): Choice[] {
  const model = modelNamed(models ?? [], form.model);
  if (model === undefined)
    return [{ value: form.voice, label: form.voice === '' ? 'the default' : form.voice }];
  const { voices, default_voice: standard } = model;
  return [
    { value: form.voice === '' ? '' : standard, label: `${standard} (default)` },
    ...voices.filter((voice) => voice !== standard).map((voice) => ({ value: voice, label: voice })),
    ...(form.voice === '' || voices.includes(form.voice) ? [] : [{ value: form.voice, label: form.voice }]),
  ];
}

/** The form's part when this model is chosen: a voice that it does not have gives way to its default. */
export function withModel(
  models: readonly SpeechModel[] | undefined,
  form: { voice: string },
  name: string,
): { model: string; voice: string } {
  const model = modelNamed(models ?? [], name);
  const keeps = model === undefined || form.voice === '' || model.voices.includes(form.voice);
  return { model: name, voice: keeps ? form.voice : model.default_voice };
}

/** What a chosen model cannot do, in words; empty where there is nothing to say. */
export function modelLimits(models: readonly SpeechModel[] | undefined, chosen: string): string {
  const model = modelNamed(models ?? [], chosen);
  return model === undefined || model.capabilities.calls_tools ? '' : 'It cannot use tools during a call.';
}
