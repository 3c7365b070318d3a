// Secrets: one that is shown this once, and a field whose value is shown when asked; and code that can be copied.
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Button, CopyButton } from './button.ts';
import { Dialog } from './dialog.ts';
import { Checkbox } from './field.ts';

/** Shows a secret that nobody can show again. Closes only after it was said that it is kept. */
export function SecretDialog(props: {
  title: string;
  /** What is copied: `API key`. */
  label: string;
  secret: string;
  onClose: () => void;
  children?: ComponentChildren;
}) {
  const [kept, setKept] = useState(false);
  const [reminded, setReminded] = useState(false);
  const close = () => {
    if (kept) props.onClose();
    else setReminded(true);
  };
  return html`<${Dialog}
    title=${props.title}
    keep
    onClose=${close}
    actions=${html`<${Button} kind="primary" disabled=${!kept} onClick=${props.onClose}>Done<//>`}
  >
    <div class="stack">
      ${props.children}
      <div class="secret">
        <code class="secret-text" tabindex="0" aria-label=${props.label}>${props.secret}</code>
        <${CopyButton} text=${props.secret} label=${props.label}>Copy<//>
      </div>
      <div>
        <${Checkbox} label="I have kept it: it is not shown again" checked=${kept} onChange=${setKept} />
        ${reminded && !kept ? html`<p class="field-error" role="alert">Copy it first and tick the box; after this it cannot be shown again.</p>` : null}
      </div>
    </div>
  <//>`;
}

/** Code to look at and copy. */
export function Code(props: { text: string; label: string }) {
  return html`<div class="code">
    <pre tabindex="0" role="region" aria-label=${props.label}>${props.text}</pre>
    <div class="code-copy"><${CopyButton} text=${props.text} label=${props.label} /></div>
  </div>`;
}
