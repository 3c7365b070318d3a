// Buttons, links that look like one, and the button that copies.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { may, type Permission } from '../session.ts';
import { Icon, type IconName } from './icon.ts';
import { toast } from './toast.ts';

interface ButtonProps {
  children?: ComponentChildren;
  /** One primary button at most on a view. */
  kind?: 'primary' | 'plain' | 'danger' | 'quiet';
  type?: 'button' | 'submit';
  small?: boolean;
  icon?: IconName;
  /** Needed where there is no text; else it says more than the text. */
  label?: string;
  /** Shows that it works, and takes no second press; keeps the focus. */
  busy?: boolean;
  disabled?: boolean;
  /** Goes there instead of doing something. */
  href?: string;
  /** For a link to a file. */
  download?: string;
  onClick?: (event: MouseEvent) => void;
  expanded?: boolean;
  pressed?: boolean;
  testId?: string;
  /** Left out for who may not; the daemon would refuse it. */
  needs?: Permission;
}

export function Button(props: ButtonProps) {
  if (props.needs !== undefined && !may(props.needs)) return null;
  const iconOnly = props.children === undefined;
  const name = `button ${props.kind ?? 'plain'}${props.small === true ? ' small' : ''}${iconOnly ? ' icon-only' : ''}`;
  const inside = html`${props.icon === undefined ? null : html`<${Icon} name=${props.icon} size=${props.small === true ? 15 : 17} />`}${props.children === undefined ? null : html`<span>${props.children}</span>`}`;
  if (props.href !== undefined) {
    return html`<a
      class=${name}
      href=${props.href}
      aria-label=${props.label}
      title=${iconOnly ? props.label : undefined}
      download=${props.download}
      data-testid=${props.testId}
      >${inside}</a
    >`;
  }
  return html`<button
    class=${name}
    type=${props.type ?? 'button'}
    aria-label=${props.label}
    title=${iconOnly ? props.label : undefined}
    aria-busy=${props.busy === true ? 'true' : undefined}
    aria-disabled=${props.busy === true ? 'true' : undefined}
    aria-expanded=${props.expanded}
    aria-pressed=${props.pressed}
    disabled=${props.disabled}
    data-testid=${props.testId}
    onClick=${(event: MouseEvent) => {
      if (props.busy === true) {
        event.preventDefault();
        return;
      }
      props.onClick?.(event);
    }}
  >
    ${inside}
  </button>`;
}

/** Copies `text`; `label` says of what. */
export function CopyButton(props: { text: string; label: string; children?: ComponentChildren }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(props.text);
      setCopied(true);
      toast(`${props.label} copied.`);
      setTimeout(() => setCopied(false), 2000);
    } catch {
      toast('The browser did not allow copying: select the text and copy it by hand.', 'bad');
    }
  };
  return html`<${Button} small kind="quiet" icon=${copied ? 'check' : 'copy'} label=${`Copy ${props.label}`} onClick=${copy}>${props.children}<//>`;
}
