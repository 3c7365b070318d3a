// Alerts that fire now, in a notice that leads to them. Nothing where none does, or they cannot be read: they have a page.
import { html } from 'htm/preact';
import { useEffect } from 'preact/hooks';
import type { Alerts } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { Note } from '../ui/feedback.ts';
import { useLoad } from '../ui/load.ts';

/** The daemon looks twice a minute. */
const REFRESH_MS = 30_000;

export function FiringNote() {
  const alerts = useLoad<Alerts>((signal) => api.alerts.get({ signal }), []);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || alerts.reload(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
  const firing = alerts.data?.rules.filter(({ enabled, status }) => enabled && status === 'firing') ?? [];
  if (firing.length === 0) return null;
  return html`<${Note} kind="warn" title=${firing.map(({ title }) => title).join('. ')}>
    <p>${firing.map(({ text }) => text ?? '').join(' ')} <a href="/alerts">Alerts</a></p>
  <//>`;
}
