// How the phone line does: calls, latency, failures, spend; and the health of what it stands on.
import { html } from 'htm/preact';
import { Page } from '../ui/page.ts';

export function OverviewPage() {
  return html`<${Page} title="Overview"></${Page}>`;
}
