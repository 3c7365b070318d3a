// Which speech model leads an agent's calls.
import { html } from 'htm/preact';
import { faultAt } from '../../../forms/agent-form.ts';
import { modelChoices, modelLimits, withModel } from '../../../forms/model-choice.ts';
import { Select } from '../../../ui/field.ts';
import { Section } from '../../../ui/page.ts';
import type { FieldsProps } from '../fields.ts';

export function ModelGroup(props: FieldsProps) {
  const { form, models } = props;
  return html`<${Section} title="Speech model" lead="Who listens, thinks and speaks. Those that this daemon is set up with; a voice that another one does not have gives way to its default.">
    <div class="short-field">
      <${Select}
        label="Speech model"
        hideLabel
        name="model"
        value=${form.model}
        disabled=${props.disabled}
        error=${faultAt(props.faults, 'model')}
        options=${modelChoices(models, form.model)}
        help=${modelLimits(models, form.model)}
        onChange=${(model: string) => props.set(withModel(models, form, model))}
      />
    </div>
  <//>`;
}
