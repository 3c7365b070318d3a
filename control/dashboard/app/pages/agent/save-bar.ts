// The bar below an editor with something unsaved.
import { html } from 'htm/preact';
import { counted } from '../../format.ts';
import type { FormFault } from '../../forms/agent-form.ts';
import { Button } from '../../ui/button.ts';

export function SaveBar(props: {
  faults: readonly FormFault[];
  error: unknown;
  busy: boolean;
  isNew: boolean;
  isOvertaken?: boolean;
  onDrop: () => void;
}) {
  const { faults } = props;
  return html`<div class="save-bar">
    <div class="save-state" role="alert">
      ${
        faults.length > 0
          ? html`<span class="field-error">Not saved: ${counted(faults.length, 'place needs', 'places need')} mending. ${faults.length === 1 ? faults[0]?.message : ''}</span>`
          : props.isOvertaken === true
            ? html`<span class="field-error">Not saved: it was changed meanwhile.</span>`
            : props.error === null
              ? html`<span class="dim">${props.isNew ? 'Not created yet.' : 'Changes are not saved yet.'}</span>`
              : null
      }
    </div>
    <${Button} onClick=${props.onDrop}>${props.isNew ? 'Cancel' : 'Discard'}<//>
    <${Button} needs="operate" kind="primary" type="submit" busy=${props.busy}>${props.isNew ? 'Create agent' : 'Save changes'}<//>
  </div>`;
}
