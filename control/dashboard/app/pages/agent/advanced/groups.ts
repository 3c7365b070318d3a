// The Advanced tab: one group of fields below the other, each a file of its own in this folder. A field's place in the form is
// forms/agent-form.ts.
import type { ComponentType } from 'preact';
import type { FieldsProps } from '../fields.ts';
import { DisclosureGroup } from './disclosure.ts';
import { ModelGroup } from './model.ts';
import { PrivacyGroup } from './privacy.ts';
import { ReportsGroup } from './reports.ts';
import { TurnsGroup } from './turns.ts';
import { VoicemailGroup } from './voicemail.ts';

/** In the order shown. A group that does not concern the agent shows nothing. */
export const ADVANCED_GROUPS: readonly { name: string; Group: ComponentType<FieldsProps> }[] = [
  { name: 'disclosure', Group: DisclosureGroup },
  { name: 'turns', Group: TurnsGroup },
  { name: 'voicemail', Group: VoicemailGroup },
  { name: 'model', Group: ModelGroup },
  { name: 'privacy', Group: PrivacyGroup },
  { name: 'reports', Group: ReportsGroup },
];
