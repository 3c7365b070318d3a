// The speech models that the daemon is configured with, by name: the one of the settings, which is the default, and those of
// MODELS_FILE. An agent names one; a call keeps the name.
import { z } from 'zod';
import type { SpeechModels } from '../../bridge/calls/call-plan.ts';
import { modelSetupOf, modelSetups } from '../../bridge/setups.ts';
import { type Config, ConfigError } from '../../config.ts';
import { readSettingsFile } from '../../settings-file.ts';

const KINDS = modelSetups.map(({ kind }) => kind);
const [standardSetup] = modelSetups;

/** What is left out is as the settings have it for the kind. */
const file = z.record(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, 'a name has letters, digits, . _ : and -'),
  z.strictObject({
    kind: z.enum(KINDS, `must be one of ${KINDS.join(', ')}`).default(standardSetup.kind),
    model: z.string().min(1),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    api_key: z.string().min(1).optional(),
    transcription_model: z.string().min(1).optional(),
  }),
);

/** @throws ConfigError when the file cannot be read or used, naming the place that is wrong */
export function readSpeechModels(config: Config): SpeechModels {
  const standard = standardSetup.fromSettings(config);
  const byName = new Map([[standard.model, standard]]);
  const secrets: string[] = [];
  for (const [name, one] of Object.entries(readModels(config.MODELS_FILE))) {
    if (byName.has(name))
      throw new ConfigError(`MODELS_FILE: ${name} is what ${standardSetup.settings.model} names already`);
    if (one.api_key !== undefined) secrets.push(one.api_key);
    const settings = modelSetupOf(one.kind).fromSettings(config);
    byName.set(name, {
      kind: one.kind,
      url: one.base_url?.replace(/\/+$/, '') ?? settings.url,
      apiKey: one.api_key ?? settings.apiKey,
      model: one.model,
      transcriptionModel: one.transcription_model ?? settings.transcriptionModel,
    });
  }
  return {
    defaultName: standard.model,
    names: [...byName.keys()],
    access: (name) => byName.get(name) ?? null,
    secrets,
  };
}

function readModels(path: string | null): z.output<typeof file> {
  if (path === null) return {};
  return readSettingsFile('MODELS_FILE', path, file);
}
