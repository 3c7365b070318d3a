// What is said of the organization on its calls: its name, and whether it is told that a call is recorded.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { OwnOrganization } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { fieldError, toFailure } from '../failure.ts';
import { may } from '../session.ts';
import { Button } from '../ui/button.ts';
import { ErrorNote, Loaded } from '../ui/feedback.ts';
import { Field, Select } from '../ui/field.ts';
import { useAction, useLoad } from '../ui/load.ts';
import { Section } from '../ui/page.ts';
import { toast } from '../ui/toast.ts';

const NOTICES = [
  { value: '', label: 'As the daemon has it' },
  { value: 'always', label: 'Say it first on every call that is recorded' },
  { value: 'never', label: 'Do not say it' },
];

function SpokenForm(props: { organization: OwnOrganization; onChange: (next: OwnOrganization) => void }) {
  const { organization } = props;
  const [name, setName] = useState(organization.spoken_name ?? '');
  const [notice, setNotice] = useState<string>(organization.recording_notice ?? '');
  const save = useAction(async () => {
    const spoken_name = name.trim() === '' ? null : name.trim();
    const recording_notice = notice === 'always' || notice === 'never' ? notice : null;
    props.onChange(await api.organization.update({ spoken_name, recording_notice }));
    toast('It holds for calls that begin from now on.');
  });
  const disabled = !may('admin');
  return html`<form
    class="stack narrow"
    onSubmit=${(event: Event) => {
      event.preventDefault();
      void save.run();
    }}
  >
    <${Field}
      label="Spoken name"
      name="spoken_name"
      optional
      value=${name}
      disabled=${disabled}
      placeholder=${organization.said_as ?? 'Harbour Clinic'}
      error=${fieldError(save.error, 'spoken_name')}
      help="As it is to be said: “an AI assistant calling for …”. Empty: the organization's name, once it has one of its own."
      onInput=${setName}
    />
    <${Select}
      label="That a call is recorded"
      name="recording_notice"
      value=${notice}
      disabled=${disabled}
      options=${NOTICES}
      help="Where calls are recorded. In many countries both sides must know of it."
      onChange=${setNotice}
    />
    ${toFailure(save.error).param === 'spoken_name' ? null : html`<${ErrorNote} error=${save.error} title="It was not saved." focus />`}
    ${disabled ? null : html`<div><${Button} type="submit" busy=${save.busy}>Save<//></div>`}
  </form>`;
}

export function SpokenSection() {
  const load = useLoad<OwnOrganization>((signal) => api.organization.get({ signal }), []);
  return html`<${Section} title="On the phone" lead="What is said of this organization before all else: who calls, and that a call is recorded.">
    <${Loaded} load=${load} title="The organization could not be read.">
      ${(organization: OwnOrganization) => html`<${SpokenForm} organization=${organization} onChange=${load.set} />`}
    <//>
  <//>`;
}
