// The fields of an agent, with help at each; holds no state: the page does.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import type { SpeechModel } from '../../../../sdk/index.ts';
import { count } from '../../format.ts';
import {
  type AgentForm,
  DEFAULT_PERSONA,
  type FormFault,
  faultAt,
  LANGUAGES,
  languageName,
  MAX_TEXT,
} from '../../forms/agent-form.ts';
import { modelChoices, modelLimits, voiceChoices, withModel } from '../../forms/model-choice.ts';
import { Field, Select } from '../../ui/field.ts';
import { Section } from '../../ui/page.ts';
import { ReturnsEditor } from './returns-editor.ts';
import { ToolsEditor } from './tools-editor.ts';

const LANGUAGE_CHOICES = LANGUAGES.map((value) => ({ value, label: languageName(value) ?? value }));

const EXAMPLE = {
  inbound:
    'Find out what the caller wants. For a reservation ask for the day, the time, how many people and a name. Read all of it back before you say goodbye.',
  outbound:
    'Call about the appointment in the call data. Ask whether the person will come. If not, ask which day would suit instead.',
} as const;

export interface FieldsProps {
  form: AgentForm;
  faults: readonly FormFault[];
  set: (part: Partial<AgentForm>) => void;
  disabled: boolean;
  isNew: boolean;
  /** Undefined until they are loaded. */
  models: readonly SpeechModel[] | undefined;
}

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

/** Name, kind, task, persona. */
export function TaskFields(props: FieldsProps) {
  const { form, set, disabled } = props;
  const error = (param: string) => faultAt(props.faults, param);
  return html`<${Section} title="Task">
    <div class="stack">
      <${Field} label="Name" name="name" required value=${form.name} disabled=${disabled} error=${error('name')} placeholder=${form.type === 'inbound' ? 'Front desk' : 'Reminder'} help="For you and your colleagues; callers never hear it." onInput=${(name: string) => set({ name })} />
      <${KindChoice} ...${props} />
      <${Field}
        label="Instructions"
        name="instructions"
        rows=${7}
        value=${form.instructions}
        disabled=${disabled}
        error=${error('instructions')}
        placeholder=${EXAMPLE[form.type]}
        help=${html`What it should reach on a call, in plain sentences: one goal works best. Facts that differ by call belong
        into the call's context, not here${form.type === 'outbound' ? '; a call may bring its own instructions instead' : ''}.${counter(form.instructions)}`}
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

function languageHelp(language: string): string {
  if (language.trim() === '') return 'Empty: it greets in English, then speaks what the other side speaks.';
  const name = languageName(language);
  return name === null ? 'A code such as en, es or pt-BR.' : `${name}, from the first word.`;
}

/** Voice, language, voicemail. */
export function VoiceFields(props: FieldsProps) {
  const { form, set, disabled, models } = props;
  const error = (param: string) => faultAt(props.faults, param);
  return html`<${Section} title="Voice">
    <div class="stack">
      <${Select}
        label="Voice"
        name="voice"
        value=${form.voice}
        disabled=${disabled}
        error=${error('voice')}
        options=${voiceChoices(models, form)}
        help="Hear it with “Try it”."
        onChange=${(voice: string) => set({ voice })}
      />
      <${Select}
        label="Speech model"
        name="model"
        value=${form.model}
        disabled=${disabled}
        error=${error('model')}
        options=${modelChoices(models, form.model)}
        help=${modelLimits(models, form.model)}
        onChange=${(model: string) => set(withModel(models, form, model))}
      />
      <${Field} label="Language" name="language" optional value=${form.language} disabled=${disabled} error=${error('language')} placeholder="en" suggestions=${LANGUAGE_CHOICES} help=${languageHelp(form.language)} onInput=${(language: string) => set({ language })} />
      ${
        form.type === 'outbound'
          ? html`<${Select}
              label="When a voicemail answers"
              name="voicemail_action"
              value=${form.voicemailAction}
              disabled=${disabled}
              error=${error('voicemail_action')}
              options=${[
                { value: 'hangup', label: 'Hang up' },
                { value: 'leave_message', label: 'Leave a message after the beep' },
              ]}
              help="Hanging up ends the call as soon as a machine is recognized; a message says who calls and why."
              onChange=${(value: string) => set({ voicemailAction: value === 'leave_message' ? 'leave_message' : 'hangup' })}
            />`
          : null
      }
    </div>
  <//>`;
}

/** What callers notice of how it takes turns, a word each: normal is what most want. */
const TURNS = [
  {
    name: 'patience',
    label: 'Patience',
    help: 'How long it waits where somebody may not have finished: after it asked for a number, a name or an address, while they dictate, after an “uhm”. Longer suits callers who look things up; a short one answers into a slow dictation.',
    options: [
      { value: 'short', label: 'Short: a little under a second' },
      { value: 'normal', label: 'Normal: a little over a second' },
      { value: 'long', label: 'Long: nearly two seconds' },
    ],
  },
  {
    name: 'eagerness',
    label: 'Eagerness',
    help: 'How soon it answers when somebody has stopped speaking. Relaxed leaves time for an afterthought; eager is a little sooner where the model is quick, and speaks into pauses of half a second.',
    options: [
      { value: 'relaxed', label: 'Relaxed: a moment later' },
      { value: 'normal', label: 'Normal' },
      { value: 'eager', label: 'Eager: a moment sooner' },
    ],
  },
  {
    name: 'interruption',
    label: 'Interruption',
    help: 'How easily somebody stops it by speaking over it. Easy stops after half a second, sometimes for an “okay” or a cough; hard talks on until they keep speaking for about a second, for loud places. “Stop” stops it in any case.',
    options: [
      { value: 'easy', label: 'Easy: it stops sooner' },
      { value: 'normal', label: 'Normal' },
      { value: 'hard', label: 'Hard: it talks on at first' },
    ],
  },
] as const;

/** How it takes turns. */
function TurnFields(props: FieldsProps) {
  const { form, set, disabled } = props;
  return html`<${Section} title="Taking turns" lead="What callers notice of it between the words. A change holds from the next call on.">
    <div class="turns-fields">
      ${TURNS.map(
        ({ name, label, help, options }) => html`<${Select}
          key=${name}
          label=${label}
          name=${name}
          value=${form[name]}
          disabled=${disabled}
          error=${faultAt(props.faults, name)}
          options=${options}
          help=${help}
          onChange=${(value: string) => set({ [name]: value } as Partial<AgentForm>)}
        />`,
      )}
      <${Field}
        label="Words that stop it"
        name="interruption_words"
        optional
        value=${form.interruptionWords}
        disabled=${disabled}
        error=${faultAt(props.faults, 'interruption_words', { inside: true })}
        placeholder="Sarah, okay doctor"
        help="With commas between them. Said over its voice they stop it, even alone. “Stop”, “no” and “wait” always do, “mhm” and “okay” do not unless they stand here."
        onInput=${(interruptionWords: string) => set({ interruptionWords })}
      />
    </div>
  <//>`;
}

/** What comes back, tools, events. */
export function MoreFields(props: FieldsProps) {
  const { form, set, disabled } = props;
  return html`
    <${TurnFields} ...${props} />
    <${Section} title="What it brings back" lead="After each call these fields are read from the transcript. What was not said comes back as null, never guessed.">
      <${ReturnsEditor} value=${form.returns} faults=${props.faults} disabled=${disabled} onChange=${(returns: AgentForm['returns']) => set({ returns })} />
    <//>
    <${Section} title="What it may do" lead="Tools that the agent uses during a call, when its instructions or the talk ask for it.">
      <${ToolsEditor} value=${form.tools} faults=${props.faults} disabled=${disabled} onChange=${(tools: AgentForm['tools']) => set({ tools })} />
    <//>
    <${Section} title="Where it reports">
      <${Field}
        label="Webhook URL"
        name="webhook_url"
        type="url"
        mono
        optional
        value=${form.webhookUrl}
        disabled=${disabled}
        error=${faultAt(props.faults, 'webhook_url')}
        placeholder="https://example.com/offhook"
        help=${html`Receives the events of this agent's calls, signed with the default secret. Endpoints for all calls are
        under <a href="/webhooks">Webhooks</a>.`}
        onInput=${(webhookUrl: string) => set({ webhookUrl })}
      />
    <//>
  `;
}

/** A choice of numbers for an agent that is not there yet. */
export function NumberChoice(props: {
  numbers: readonly { id: string; e164: string; friendly_name: string; taken: boolean }[];
  chosen: readonly string[];
  onChange: (ids: string[]) => void;
  error: string | null;
}) {
  return html`<fieldset class="stack">
    <legend class="sr-only">Numbers</legend>
    ${props.numbers.map(
      (number) => html`<label class="checkbox" key=${number.id}
        ><input
          type="checkbox"
          checked=${props.chosen.includes(number.id)}
          disabled=${number.taken}
          onChange=${(event: Event) =>
            props.onChange(
              (event.target as HTMLInputElement).checked
                ? [...props.chosen, number.id]
                : props.chosen.filter((id) => id !== number.id),
            )}
        /><span>${number.e164}${number.taken ? html` <span class="dim small">answered by another agent</span>` : null}</span></label
      >`,
    )}
    ${props.error === null ? null : html`<p class="field-error">${props.error}</p>`}
  </fieldset>`;
}
