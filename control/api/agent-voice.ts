// Which voice an agent has, by what its model offers. PURE.
import type { ModelSetup } from '../../bridge/models/setup.ts';
import { modelSetups } from '../../bridge/setups.ts';
import { AppError } from '../../errors.ts';

/** The voices of all kinds of models. */
export const VOICES: readonly string[] = [...new Set(modelSetups.flatMap(({ voices }) => voices))];
/** Of agents of the default model, unless they say. */
export const DEFAULT_VOICE = modelSetups[0].defaultVoice;

/** @throws AppError invalid_voice for one that the model does not have */
export function voiceOf(
  { voices, defaultVoice }: Pick<ModelSetup, 'voices' | 'defaultVoice'>,
  wanted: string | undefined,
): string {
  if (wanted === undefined) return defaultVoice;
  if (voices.includes(wanted)) return wanted;
  throw new AppError('invalid_voice', `voice must be one of ${voices.join(', ')}, which the model has.`, {
    param: 'voice',
  });
}
