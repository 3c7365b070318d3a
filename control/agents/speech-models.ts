// The speech models that the daemon is configured with, by name: the one of the settings, which is the default, and those of
// MODELS_FILE. An agent names one; a call keeps the name.
import { z } from 'zod';
import type { ModelAccess, SpeechModels } from '../../bridge/calls/call-plan.ts';
import { type Config, ConfigError } from '../../config.ts';
import { readSettingsFile } from '../../settings-file.ts';

type ModelSettings = Pick<
  Config,
  'MODELS_FILE' | 'OPENAI_API_KEY' | 'OPENAI_BASE_URL' | 'REALTIME_MODEL' | 'TRANSCRIPTION_MODEL'
>;

/** What is left out is as the settings have it for the default. */
const file = z.record(
  z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,99}$/, 'a name has letters, digits, . _ : and -'),
  z.strictObject({
    kind: z.literal('openai').default('openai'),
    model: z.string().min(1),
    base_url: z.url({ protocol: /^https?$/ }).optional(),
    api_key: z.string().min(1).optional(),
    transcription_model: z.string().min(1).optional(),
  }),
);

/** @throws ConfigError when the file cannot be read or used, naming the place that is wrong */
export function readSpeechModels(config: ModelSettings): SpeechModels {
  const standard: ModelAccess = {
    kind: 'openai',
    url: config.OPENAI_BASE_URL,
    apiKey: config.OPENAI_API_KEY ?? '',
    model: config.REALTIME_MODEL,
    transcriptionModel: config.TRANSCRIPTION_MODEL,
  };
  const byName = new Map([[config.REALTIME_MODEL, standard]]);
  const secrets: string[] = [];
  for (const [name, one] of Object.entries(readModels(config.MODELS_FILE))) {
    if (byName.has(name)) throw new ConfigError(`MODELS_FILE: ${name} is what REALTIME_MODEL names already`);
    if (one.api_key !== undefined) secrets.push(one.api_key);
    byName.set(name, {
      kind: one.kind,
      url: one.base_url?.replace(/\/+$/, '') ?? standard.url,
      apiKey: one.api_key ?? standard.apiKey,
      model: one.model,
      transcriptionModel: one.transcription_model ?? standard.transcriptionModel,
    });
  }
  return {
    defaultName: config.REALTIME_MODEL,
    names: [...byName.keys()],
    access: (name) => byName.get(name) ?? null,
    secrets,
  };
}

function readModels(path: string | null): z.output<typeof file> {
  if (path === null) return {};
  return readSettingsFile('MODELS_FILE', path, file);
}
