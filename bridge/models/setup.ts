// What is known of a kind of speech model before a session of it is opened: where it is, what it can do. PURE types.
import type { AudioFormat } from '../../audio/format.ts';
import type { Config } from '../../config.ts';
import type { Ask, Found, SettingName } from '../setup.ts';
import type { ModelCapabilities } from './model.ts';

/** How a model is reached. */
export interface ModelAccess {
  /** Name in the list of sessions (models.ts). */
  kind: string;
  url: string;
  apiKey: string;
  /** What its server calls it. */
  model: string;
  transcriptionModel: string;
}

export interface ModelSetup {
  readonly kind: string;
  /** The model that the settings name cannot be used without these. */
  readonly needs: readonly SettingName[];
  /** Domain of the vendor whose servers these usually are. */
  readonly vendor: string;
  /** What an agent's `voice` is among. */
  readonly voices: readonly string[];
  readonly defaultVoice: string;
  /** The sound that a session can take and give. */
  readonly formats: readonly AudioFormat[];
  /** Of what a session can do, what does not depend on the settings. */
  readonly capabilities: Pick<ModelCapabilities, 'truncates' | 'saysLines' | 'callsTools'>;
  /** Where an operator looks when the model of the settings cannot be used. */
  readonly settings: Readonly<Record<'url' | 'apiKey' | 'model', SettingName>>;
  /** The model that the settings name. */
  fromSettings(config: Config): ModelAccess;
  /** A request that changes nothing: 200 where the model can be used, 401 or 403 by the key, 404 where there is none such. */
  probe(access: ModelAccess): { url: string; headers: Record<string, string> };
  /** Whether the key and the models of the settings can be used. Asked only when all it needs is set. */
  tryOut(config: Config, o: { ask: Ask; now: Date }): Promise<readonly Found[]>;
}
