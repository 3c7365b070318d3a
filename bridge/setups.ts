// Which carriers and models take settings: to add one, write its setup and add it here. What opens them is
// carriers/carriers.ts and models/models.ts; this file loads none of them. PURE.
import type { Config } from '../config.ts';
import type { CarrierSetup } from './carriers/setup.ts';
import { twilioSetup } from './carriers/twilio/setup.ts';
import { openaiSetup } from './models/openai/setup.ts';
import type { ModelSetup } from './models/setup.ts';
import type { SettingName } from './setup.ts';

/** The first one is asked for where none is set up. */
export const carrierSetups: readonly [CarrierSetup, ...CarrierSetup[]] = [twilioSetup];

/** The first one's settings name the default model. */
export const modelSetups: readonly [ModelSetup, ...ModelSetup[]] = [openaiSetup];

type Needs = Pick<CarrierSetup, 'needs'>;

/** Whether it can be opened. */
export function isSetUp({ needs }: Needs, config: Config): boolean {
  return needs.every((name) => config[name] !== null);
}

/** Whether the settings name it at all. */
export function isWanted({ needs }: Needs, config: Config): boolean {
  return needs.some((name) => config[name] !== null);
}

/**
 * The settings a real call cannot do without, that are not set: those of each carrier that is wanted, or of the first where
 * none is, and those of the default model.
 */
export function missingSettings(
  config: Config,
  carriers: readonly [Needs, ...Needs[]] = carrierSetups,
  [model]: readonly [Needs, ...Needs[]] = modelSetups,
): SettingName[] {
  const wanted = carriers.filter((carrier) => isWanted(carrier, config));
  const parts = [...(wanted.length === 0 ? [carriers[0]] : wanted), model];
  return [...new Set(parts.flatMap(({ needs }) => needs))].filter((name) => config[name] === null);
}

/** @throws Error for a kind that is none of modelSetups */
export function modelSetupOf(kind: string): ModelSetup {
  const setup = modelSetups.find((one) => one.kind === kind);
  if (setup === undefined) throw new Error(`There is no kind "${kind}" of speech model.`);
  return setup;
}
