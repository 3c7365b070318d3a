// Fields of forms: a label, help, the error of it, bound together for screen readers. Holds no values: the page does.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';

interface Labelled {
  label: string;
  /** What to put there and what comes of it. */
  help?: ComponentChildren;
  /** What is wrong with it; see fieldError. */
  error?: string | null | undefined;
  optional?: boolean;
  /** The label is for screen readers only. */
  hideLabel?: boolean;
}

/** The frame around one control, for controls that are not below. `control` gets the ids to bind with. */
function FieldFrame(
  props: Labelled & {
    control: (ids: {
      id: string;
      describedBy: string | undefined;
      invalid: 'true' | undefined;
    }) => ComponentChildren;
  },
) {
  const id = useId();
  const error = props.error ?? null;
  const describedBy =
    [props.help === undefined ? '' : `${id}-help`, error === null ? '' : `${id}-error`]
      .filter((one) => one !== '')
      .join(' ') || undefined;
  return html`<div class=${`field${error === null ? '' : ' invalid'}`}>
    <label for=${id} class=${props.hideLabel === true ? 'sr-only' : undefined}
      >${props.label}${props.optional === true ? html` <span class="optional">optional</span>` : null}</label
    >
    ${props.control({ id, describedBy, invalid: error === null ? undefined : 'true' })}
    ${error === null ? null : html`<p class="field-error" id=${`${id}-error`}>${error}</p>`}
    ${props.help === undefined ? null : html`<p class="help" id=${`${id}-help`}>${props.help}</p>`}
  </div>`;
}

export interface FieldProps extends Labelled {
  value: string;
  onInput: (value: string) => void;
  /** When it is left. */
  onBlur?: () => void;
  name?: string;
  type?: 'text' | 'password' | 'search' | 'url' | 'tel' | 'number' | 'date' | 'email';
  /** More than one line; grows with its text. */
  rows?: number;
  /** Code: fixed width, no spell check. */
  mono?: boolean;
  placeholder?: string;
  required?: boolean;
  disabled?: boolean;
  autocomplete?: string;
  maxLength?: number;
  min?: string;
  max?: string;
  /** Offered while typing; other values may be typed all the same. */
  suggestions?: readonly { value: string; label: string }[];
}

/** One line of text, or several with `rows`. */
export function Field(props: FieldProps) {
  return html`<${FieldFrame}
    ...${labelled(props)}
    control=${(ids: { id: string; describedBy: string | undefined; invalid: 'true' | undefined }) => {
      const shared = {
        id: ids.id,
        name: props.name,
        value: props.value,
        placeholder: props.placeholder,
        required: props.required,
        disabled: props.disabled,
        maxLength: props.maxLength,
        class: props.mono === true ? 'mono' : undefined,
        spellcheck: props.mono === true ? false : undefined,
        'aria-describedby': ids.describedBy,
        'aria-invalid': ids.invalid,
        onInput: (event: Event) => props.onInput((event.target as HTMLInputElement).value),
        onBlur: props.onBlur,
      };
      return props.rows === undefined
        ? html`<input
            ...${shared}
            type=${props.type ?? 'text'}
            autocomplete=${props.autocomplete ?? 'off'}
            min=${props.min}
            max=${props.max}
            list=${props.suggestions === undefined ? undefined : `${ids.id}-list`}
          />${
            props.suggestions === undefined
              ? null
              : html`<datalist id=${`${ids.id}-list`}>
                  ${props.suggestions.map(({ value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}
                </datalist>`
          }`
        : html`<textarea ...${shared} rows=${props.rows}></textarea>`;
    }}
  />`;
}

function labelled(props: Labelled): Labelled {
  const { label, help, error, optional, hideLabel } = props;
  return {
    label,
    error,
    ...(help === undefined ? {} : { help }),
    ...(optional === undefined ? {} : { optional }),
    ...(hideLabel === undefined ? {} : { hideLabel }),
  };
}

export interface Option {
  value: string;
  label: string;
  disabled?: boolean;
}

export function Select(
  props: Labelled & {
    value: string;
    options: readonly Option[];
    onChange: (value: string) => void;
    name?: string;
    disabled?: boolean;
  },
) {
  return html`<${FieldFrame}
    ...${labelled(props)}
    control=${(ids: { id: string; describedBy: string | undefined; invalid: 'true' | undefined }) =>
      html`<select
        id=${ids.id}
        name=${props.name}
        value=${props.value}
        disabled=${props.disabled}
        aria-describedby=${ids.describedBy}
        aria-invalid=${ids.invalid}
        onChange=${(event: Event) => props.onChange((event.target as HTMLSelectElement).value)}
      >
        ${props.options.map(
          (one) =>
            html`<option key=${one.value} value=${one.value} disabled=${one.disabled} selected=${one.value === props.value}>
              ${one.label}
            </option>`,
        )}
      </select>`}
  />`;
}

/** A box to tick, in a list of several. */
export function Checkbox(props: {
  label: ComponentChildren;
  checked: boolean;
  onChange: (checked: boolean) => void;
  disabled?: boolean;
}) {
  return html`<label class="checkbox"
    ><input
      type="checkbox"
      checked=${props.checked}
      disabled=${props.disabled}
      onChange=${(event: Event) => props.onChange((event.target as HTMLInputElement).checked)}
    /><span>${props.label}</span></label
  >`;
}

/** A few values beside each other, one of them chosen. */
export function Segments(props: {
  label: string;
  value: string;
  options: readonly Option[];
  onChange: (value: string) => void;
}) {
  const name = useId();
  return html`<fieldset class="segments">
    <legend class="sr-only">${props.label}</legend>
    ${props.options.map(
      (one) => html`<label key=${one.value}
        ><input
          type="radio"
          name=${name}
          value=${one.value}
          checked=${one.value === props.value}
          disabled=${one.disabled}
          onChange=${() => props.onChange(one.value)}
        /><span>${one.label}</span></label
      >`,
    )}
  </fieldset>`;
}
