// The first tab of an agent: its name, its task, who it is, its voice and its language.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { count, counted } from '../../format.ts';
import { DEFAULT_PERSONA, faultAt, MAX_TEXT } from '../../forms/agent-form.ts';
import { blanksIn } from '../../forms/agent-templates.ts';
import { languageChoices, languageName } from '../../forms/languages.ts';
import { voiceChoices } from '../../forms/model-choice.ts';
import { Button } from '../../ui/button.ts';
import { Field, Select } from '../../ui/field.ts';
import { Section } from '../../ui/page.ts';
import type { FieldsProps } from './fields.ts';
import { VoicesDialog } from './voices-dialog.ts';

const EXAMPLE = {
  inbound:
    'Find out what the caller wants. For a reservation ask for the day, the time, how many people and a name. Read all of it back before you say goodbye.',
  outbound:
    'Call about the appointment in the call data. Ask whether the person will come. If not, ask which day would suit instead.',
} as const;

function counter(text: string): ComponentChildren {
  if (text.length < 500) return null;
  return html` <span class=${`digits${text.length > MAX_TEXT ? ' over' : ''}`}>${count(text.length)} of ${count(MAX_TEXT)} characters.</span>`;
}

function KindChoice(props: FieldsProps) {
  const { form } = props;
  if (!props.isNew) return null;
  const kinds = [
    {
      value: 'inbound',
      title: 'Answers calls',
      text: 'Picks up when somebody calls one of its numbers. A number has one such agent.',
    },
    {
      value: 'outbound',
      title: 'Places calls',
      text: 'Is sent to call somebody, from here or by the API. Many such agents may share a number.',
    },
  ] as const;
  return html`<fieldset class="choices">
    <legend class="label">Kind</legend>
    ${kinds.map(
      (kind) => html`<label class="choice" key=${kind.value}>
        <input type="radio" name="type" value=${kind.value} checked=${form.type === kind.value} onChange=${() => props.set({ type: kind.value })} />
        <span><strong>${kind.title}</strong><span class="help">${kind.text}</span></span>
      </label>`,
    )}
    <p class="help">The kind stays as it is once the agent is created.</p>
  </fieldset>`;
}

function Task(props: FieldsProps) {
  const { form, set, disabled } = props;
  const error = (param: string) => faultAt(props.faults, param);
  const blanks = blanksIn(form.instructions);
  return html`<${Section} title="Task">
    <div class="stack">
      <${Field} label="Name" name="name" required value=${form.name} disabled=${disabled} error=${error('name')} placeholder=${form.type === 'inbound' ? 'Front desk' : 'Reminder'} help="For you and your colleagues; callers never hear it." onInput=${(name: string) => set({ name })} />
      <${KindChoice} ...${props} />
      <${Field}
        label="Instructions"
        name="instructions"
        rows=${9}
        value=${form.instructions}
        disabled=${disabled}
        error=${error('instructions')}
        placeholder=${EXAMPLE[form.type]}
        help=${html`What it should reach on a call, in plain sentences: one goal works best. Facts that differ by call belong
        into the call's context, not here${form.type === 'outbound' ? '; a call may bring its own instructions instead' : ''}.${counter(form.instructions)}${
          blanks.length === 0
            ? null
            : html` <strong class="blanks">Still yours to fill in: ${counted(blanks.length, 'place', 'places')} in [brackets].</strong>`
        }`}
        onInput=${(instructions: string) => set({ instructions })}
      />
      <${Field}
        label="Persona"
        name="persona"
        optional
        rows=${4}
        value=${form.persona}
        disabled=${disabled}
        error=${error('persona')}
        placeholder=${DEFAULT_PERSONA}
        help=${html`Who it is and what it must not do. Left empty, the text shown holds. How to speak on a phone is told to it
        in any case.${counter(form.persona)}`}
        onInput=${(persona: string) => set({ persona })}
      />
    </div>
  <//>`;
}

/** Chosen in the list for a language that is typed as its code. */
const BY_CODE = 'by-code';

function Language(props: FieldsProps) {
  const { form, set, disabled } = props;
  const code = form.language.trim();
  const [typed, setTyped] = useState(code !== '' && languageName(code) === null);
  const error = faultAt(props.faults, 'language');
  return html`<div class="stack">
    <${Select}
      label="Language"
      name="language"
      value=${typed ? BY_CODE : code}
      disabled=${disabled}
      error=${typed ? null : error}
      options=${[
        { value: '', label: 'As the other side speaks' },
        ...languageChoices(code),
        { value: BY_CODE, label: 'Another, by its code…' },
      ]}
      help=${code === '' ? 'It greets in English, then speaks what the other side speaks.' : 'Spoken from the first word.'}
      onChange=${(value: string) => {
        setTyped(value === BY_CODE);
        set({ language: value === BY_CODE ? '' : value });
      }}
    />
    ${
      typed
        ? html`<${Field} label="Code of the language" name="language_code" mono value=${form.language} disabled=${disabled} error=${error} placeholder="cy" help=${languageName(code) ?? 'A code such as cy for Welsh or pt-AO for Portuguese in Angola.'} onInput=${(language: string) => set({ language })} />`
        : null
    }
  </div>`;
}

function Voice(props: FieldsProps) {
  const { form, set, disabled, models } = props;
  const [hearing, setHearing] = useState(false);
  return html`<${Section} title="Voice and language">
    <div class="field-pair">
      <div class="stack voice-field">
        <${Select}
          label="Voice"
          name="voice"
          value=${form.voice}
          disabled=${disabled}
          error=${faultAt(props.faults, 'voice')}
          options=${voiceChoices(models, form)}
          onChange=${(voice: string) => set({ voice })}
        />
        ${
          disabled || models === undefined
            ? null
            : html`<div><${Button} needs="operate" small icon="play" onClick=${() => setHearing(true)}>Hear the voices<//></div>`
        }
      </div>
      <${Language} ...${props} />
    </div>
    ${
      hearing
        ? html`<${VoicesDialog}
            form=${form}
            models=${models ?? []}
            onChoose=${(voice: string) => {
              set({ voice });
              setHearing(false);
            }}
            onClose=${() => setHearing(false)}
          />`
        : null
    }
  <//>`;
}

export function InstructionsTab(props: FieldsProps) {
  return html`<${Task} ...${props} /><${Voice} ...${props} />`;
}
