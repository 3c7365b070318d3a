// What every part of an agent's editor is given: the form, what is wrong with it, and how to change it. PURE types.
import type { SpeechModel } from '../../../../sdk/index.ts';
import type { AgentForm, FormFault } from '../../forms/agent-form.ts';

export interface FieldsProps {
  form: AgentForm;
  faults: readonly FormFault[];
  set: (part: Partial<AgentForm>) => void;
  disabled: boolean;
  isNew: boolean;
  /** Undefined until they are loaded. */
  models: readonly SpeechModel[] | undefined;
}
