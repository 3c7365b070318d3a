// How an agent takes turns: patience, eagerness, interruption, and the words that stop it.
import { html } from 'htm/preact';
import { type AgentForm, faultAt } from '../../../forms/agent-form.ts';
import { Field, Select } from '../../../ui/field.ts';
import { Section } from '../../../ui/page.ts';
import type { FieldsProps } from '../fields.ts';

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

export function TurnsGroup(props: FieldsProps) {
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
