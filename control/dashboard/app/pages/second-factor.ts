// The second factor of one's account: set up with an app that reads the picture, its recovery codes, and removed again.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { fieldError } from '../failure.ts';
import { ask, loadSession } from '../session.ts';
import { Button, CopyButton } from '../ui/button.ts';
import { Dialog } from '../ui/dialog.ts';
import { ErrorNote } from '../ui/feedback.ts';
import { Field } from '../ui/field.ts';
import { useAction } from '../ui/load.ts';
import { Section } from '../ui/page.ts';
import { SecretDialog } from '../ui/secret.ts';
import { Badge } from '../ui/status.ts';
import { Time } from '../ui/values.ts';

interface Enrolment {
  secret: string;
  qr: { size: number; path: string };
}

type Asked = 'begin' | 'renew' | 'remove';

const TITLES: Record<Asked, string> = {
  begin: 'Set up a second factor',
  renew: 'New recovery codes',
  remove: 'Remove the second factor',
};

/** The picture that an authenticator app reads: dark on light in any colours. */
function Picture(props: { qr: Enrolment['qr'] }) {
  const { size, path } = props.qr;
  return html`<svg class="qr" viewBox=${`0 0 ${size} ${size}`} width="200" height="200" role="img" aria-label="The picture for an authenticator app" shape-rendering="crispEdges">
    <rect class="qr-back" width=${size} height=${size} /><path class="qr-ink" d=${path} />
  </svg>`;
}

/** Asks for the password, and where there is a factor already, for a code. */
function AskDialog(props: { asked: Asked; onClose: () => void; onDone: (answer: unknown) => void }) {
  const { asked } = props;
  const [current, setCurrent] = useState('');
  const [code, setCode] = useState('');
  const path = {
    begin: 'account/second_factor',
    renew: 'account/recovery_codes',
    remove: 'account/second_factor/remove',
  }[asked];
  const go = useAction(async () =>
    props.onDone(await ask('POST', path, { current, ...(asked === 'begin' ? {} : { code }) })),
  );
  const submit = (event: Event) => {
    event.preventDefault();
    void go.run();
  };
  const atField = ['current', 'code'].some((field) => fieldError(go.error, field) !== null);
  return html`<${Dialog}
    title=${TITLES[asked]}
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind=${asked === 'remove' ? 'danger' : 'primary'} type="submit" form="ask-second" busy=${go.busy} onClick=${submit}>${asked === 'remove' ? 'Remove it' : 'Continue'}<//>`}
  >
    <form class="stack" id="ask-second" onSubmit=${submit}>
      ${asked === 'remove' ? html`<p>You sign in by the password alone then. Your other browsers are signed out.</p>` : null}
      <${Field} label="Your password" type="password" autocomplete="current-password" value=${current} error=${fieldError(go.error, 'current')} onInput=${setCurrent} />
      ${asked === 'begin' ? null : html`<${Field} label="Code" autocomplete="one-time-code" value=${code} error=${fieldError(go.error, 'code')} help="Of your authenticator app, or a recovery code." onInput=${setCode} />`}
      ${atField ? null : html`<${ErrorNote} error=${go.error} title="Nothing was changed." focus />`}
    </form>
  <//>`;
}

function ConfirmDialog(props: {
  enrolment: Enrolment;
  onClose: () => void;
  onDone: (codes: string[]) => void;
}) {
  const [code, setCode] = useState('');
  const go = useAction(async () => {
    const body = { code };
    const { recovery_codes } = await ask<{ recovery_codes: string[] }>(
      'POST',
      'account/second_factor/confirm',
      body,
    );
    // A new session, with a token of its own.
    await loadSession();
    props.onDone(recovery_codes);
  });
  const submit = (event: Event) => {
    event.preventDefault();
    void go.run();
  };
  return html`<${Dialog}
    title="Read this with your authenticator app"
    keep
    onClose=${props.onClose}
    actions=${html`<${Button} onClick=${props.onClose}>Cancel<//>
      <${Button} kind="primary" type="submit" form="confirm-second" busy=${go.busy} onClick=${submit}>Turn it on<//>`}
  >
    <form class="stack" id="confirm-second" onSubmit=${submit}>
      <${Picture} qr=${props.enrolment.qr} />
      <div class="secret">
        <code class="secret-text" tabindex="0" aria-label="Secret for the app">${props.enrolment.secret}</code>
        <${CopyButton} text=${props.enrolment.secret} label="Secret for the app">Copy<//>
      </div>
      <${Field} label="Code that the app shows" autocomplete="one-time-code" value=${code} error=${fieldError(go.error, 'code')} help="Six digits. From then on signing in asks for one." onInput=${setCode} />
      ${fieldError(go.error, 'code') === null ? html`<${ErrorNote} error=${go.error} title="It was not turned on." focus />` : null}
    </form>
  <//>`;
}

export function SecondFactor(props: {
  account: { second_factor_since: string | null; recovery_codes_left: number };
  onChange: () => void;
}) {
  const { second_factor_since: since, recovery_codes_left: left } = props.account;
  const [asked, setAsked] = useState<Asked | null>(null);
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const [codes, setCodes] = useState<string[] | null>(null);
  const done = async (answer: unknown) => {
    setAsked(null);
    if (asked === 'begin') return setEnrolment(answer as Enrolment);
    if (asked === 'renew') return setCodes((answer as { recovery_codes: string[] }).recovery_codes);
    await loadSession();
    props.onChange();
  };
  return html`<${Section} title="Second factor" lead="A code of an authenticator app, beside the password: who has only that does not get in.">
    ${
      since === null
        ? html`<p class="row"><${Badge}>Off<//> <${Button} small onClick=${() => setAsked('begin')}>Set it up<//></p>`
        : html`<p class="row">
            <${Badge} tone="ok">On<//> <span>since <${Time} iso=${since} />, ${left} recovery ${left === 1 ? 'code' : 'codes'} left</span>
            <${Button} small onClick=${() => setAsked('renew')}>New recovery codes<//>
            <${Button} small kind="quiet" onClick=${() => setAsked('remove')}>Remove<//>
          </p>`
    }
    ${asked === null ? null : html`<${AskDialog} asked=${asked} onClose=${() => setAsked(null)} onDone=${done} />`}
    ${
      enrolment === null
        ? null
        : html`<${ConfirmDialog}
            enrolment=${enrolment}
            onClose=${() => setEnrolment(null)}
            onDone=${(shown: string[]) => {
              setEnrolment(null);
              setCodes(shown);
            }}
          />`
    }
    ${
      codes === null
        ? null
        : html`<${SecretDialog}
            title="Your recovery codes"
            label="Recovery codes"
            secret=${codes.join('\n')}
            onClose=${() => {
              setCodes(null);
              props.onChange();
            }}
          >
            <p>Each signs you in once when the app is not at hand. Keep them where the app is not.</p>
          <//>`
    }
  <//>`;
}
