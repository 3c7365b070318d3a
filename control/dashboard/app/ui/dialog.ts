// Dialogs on the browser's own <dialog>, and the question before what cannot be undone.
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from './button.ts';
import { ErrorNote } from './feedback.ts';

const RELOAD_MS = 600;

/** Whose press opened the dialog that closed last. */
let lastOpener: HTMLElement | null = null;

/** Where one begins: a field, else the first button at the foot, which takes nothing away. */
const FIRST_FIELD =
  '.dialog-body :is(input, select, textarea):not(:disabled), :not(:has(.dialog-body :is(input, select, textarea))) > .dialog-foot button';

/** The browser gives the focus back only where the dialog is closed before it is taken out of the page. */
function giveBack(opener: HTMLElement | null): void {
  if (isNowhere()) {
    if (opener?.isConnected === true) opener.focus();
    else focusHeading();
  }
  // What it was opened from may go with what was done there, once the list is loaded anew.
  setTimeout(() => {
    if (isNowhere()) focusHeading();
  }, RELOAD_MS);
}

function isNowhere(): boolean {
  return document.activeElement === null || document.activeElement === document.body;
}

function focusHeading(): void {
  document.querySelector<HTMLElement>('main h1')?.focus();
}

/** Open while it is rendered. Escape, the cross and a press beside it call `onClose`; the focus goes back by itself. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children?: ComponentChildren;
  /** Buttons at the foot. */
  actions?: ComponentChildren;
  wide?: boolean;
  drawer?: boolean;
  /** Something inside must not be lost by a press beside it. */
  keep?: boolean;
}) {
  const box = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const dialog = box.current;
    const active = document.activeElement;
    // One dialog that follows another goes back to where the first came from.
    const opener = active instanceof HTMLElement && active !== document.body ? active : lastOpener;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(FIRST_FIELD)?.focus();
    return () => {
      lastOpener = opener;
      dialog?.close();
      queueMicrotask(() => giveBack(opener));
    };
  }, []);
  return html`<dialog
    ref=${box}
    class=${`dialog${props.wide === true ? ' wide' : ''}${props.drawer === true ? ' drawer' : ''}`}
    aria-labelledby=${id}
    onCancel=${(event: Event) => {
      if (event.target !== box.current) return;
      event.preventDefault();
      props.onClose();
    }}
    onMouseDown=${(event: MouseEvent) => {
      if (event.target === box.current && props.keep !== true) props.onClose();
    }}
  >
    <div class="dialog-inside">
      <header class="dialog-head">
        <h2 id=${id}>${props.title}</h2>
        <${Button} kind="quiet" icon="close" label="Close" onClick=${props.onClose} />
      </header>
      <div class="dialog-body">${props.children}</div>
      ${props.actions === undefined ? null : html`<footer class="dialog-foot">${props.actions}</footer>`}
    </div>
  </dialog>`;
}

interface Question {
  title: string;
  text: ComponentChildren;
  /** What the button says: the act itself, never "OK". */
  action: string;
  danger?: boolean;
  /** Done before the dialog closes; what it throws is shown there. */
  run?: () => Promise<unknown>;
  answer: (yes: boolean) => void;
}

const question = signal<Question | null>(null);

/** Asks before an act. Answers whether it was wanted, and done where `run` was given. */
export function confirm(o: Omit<Question, 'answer'>): Promise<boolean> {
  question.value?.answer(false);
  return new Promise((answer) => {
    question.value = { ...o, answer };
  });
}

/** Stands once in the shell. */
export function ConfirmHost() {
  const one = question.value;
  return one === null ? null : html`<${ConfirmDialog} key=${one} question=${one} />`;
}

function ConfirmDialog(props: { question: Question }) {
  const one = props.question;
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const done = (yes: boolean) => {
    if (question.value === one) question.value = null;
    one.answer(yes);
  };
  const act = async () => {
    setBusy(true);
    setError(null);
    try {
      await one.run?.();
      done(true);
    } catch (thrown) {
      setError(thrown);
      setBusy(false);
    }
  };
  return html`<${Dialog}
    title=${one.title}
    onClose=${() => done(false)}
    actions=${html`<${Button} onClick=${() => done(false)}>Cancel<//>
      <${Button} kind=${one.danger === true ? 'danger' : 'primary'} busy=${busy} onClick=${act}>${one.action}<//>`}
  >
    <div class="stack">${one.text}<${ErrorNote} error=${error} /></div>
  <//>`;
}
