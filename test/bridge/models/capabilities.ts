// Capabilities of models as tests have them.
import type { ModelCapabilities } from '../../../bridge/models/model.ts';

/** A model that is given turns, asked for each answer, and cut at what was heard. */
export const TURN_BY_TURN: ModelCapabilities = {
  turns: 'bridge',
  commits: true,
  answersByItself: false,
  truncates: true,
  takesBack: false,
  saysLines: false,
  callsTools: true,
  transcribes: false,
};
