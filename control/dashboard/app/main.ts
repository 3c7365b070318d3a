// The dashboard's entry: asks who is signed in and shows what that allows.
import { html } from 'htm/preact';
import { render } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { startLive } from './live-stream.ts';
import { InvitationPage } from './pages/invitation.ts';
import { SetupPage, SignInPage } from './pages/sign-in.ts';
import { loadSession, session, sessionEnded } from './session.ts';
import { ErrorNote } from './ui/feedback.ts';
import { path, startRouter } from './ui/router.ts';
import { Shell } from './ui/shell.ts';
import { startTheme } from './ui/theme.ts';

function App() {
  const [error, setError] = useState<unknown>(null);
  const load = () => {
    setError(null);
    loadSession().catch(setError);
  };
  useEffect(load, []);
  const now = session.value;
  if (error !== null && now === undefined) {
    return html`<main class="alone"><h1 class="sr-only">Offhook</h1><${ErrorNote} error=${error} retry=${load} /></main>`;
  }
  if (now === undefined) return null;
  if (path.value === '/invitation') return html`<${InvitationPage} />`;
  // Also for a new password later, whoever is signed in.
  if (now.state === 'setup' || path.value === '/setup') {
    return html`<${SetupPage} done=${now.state !== 'setup'} />`;
  }
  return now.state === 'signed_out' ? html`<${SignInPage} />` : html`<${Shell} />`;
}

startTheme();
startRouter();
startLive(sessionEnded);
const root = document.getElementById('app');
if (root !== null) render(html`<${App} />`, root);
