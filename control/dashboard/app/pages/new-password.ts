// A new password, twice: the same two fields wherever one is chosen.
import { html } from 'htm/preact';
import { Field } from '../ui/field.ts';

const MIN_PASSWORD = 10;

const tooShort = (password: string) =>
  password.length < MIN_PASSWORD ? `Use ${MIN_PASSWORD} characters at least.` : null;
const differs = (password: string, again: string) =>
  password === again ? null : 'The two are not the same.';

/** What keeps it from being sent; null: nothing does. */
export const passwordFault = (password: string, again: string): string | null =>
  tooShort(password) ?? differs(password, again);

export function NewPassword(props: {
  password: string;
  again: string;
  onPassword: (text: string) => void;
  onAgain: (text: string) => void;
  /** It was tried to be sent. */
  tried: boolean;
  /** What the daemon says of it. */
  error: string | null;
  label?: string;
}) {
  return html`<${Field}
      label=${props.label ?? 'Password'}
      type="password"
      name="password"
      autocomplete="new-password"
      value=${props.password}
      onInput=${props.onPassword}
      error=${(props.tried ? tooShort(props.password) : null) ?? props.error}
      help=${`${MIN_PASSWORD} characters at least; a few words are easier to keep than signs.`}
    />
    <${Field}
      label="Confirm password"
      type="password"
      name="password-again"
      autocomplete="new-password"
      value=${props.again}
      onInput=${props.onAgain}
      error=${props.tried ? differs(props.password, props.again) : null}
    />`;
}
