// The models a call can talk with, by name: to add one, write its session and its wire, and add a line here.
import type { Log } from '../../log.ts';
import type { ModelConfig, ModelListener, ModelSession } from './model.ts';
import { openOpenAISession } from './openai/session.ts';

export type OpenModel = (
  config: ModelConfig,
  listener: ModelListener,
  o?: { log?: Log; renewAfterSeconds?: number },
) => ModelSession;

export const models: Readonly<Record<string, OpenModel>> = {
  openai: openOpenAISession,
};
