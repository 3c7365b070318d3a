// One field that leads everywhere: ⌘K, Ctrl K or "/" opens it, letters find pages, agents and calls, Enter goes there.
import { signal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import type { AgentSummary, Call } from '../../../sdk/index.ts';
import { api } from '../api.ts';
import { otherSide, outcomeOf } from '../call-words.ts';
import { phone } from '../format.ts';
import { callById, fitting, isTyping, type Target } from '../palette-matches.ts';
import { ROUTES } from '../routes.ts';
import { may } from '../session.ts';
import { Dialog } from './dialog.ts';
import { Icon, type IconName } from './icon.ts';
import { navigate } from './router.ts';

const open = signal(false);
const TYPING_MS = 250;
/** Calls are searched by so many signs at least, as the list of calls does. */
const LEAST = 3;
const MOST_CALLS = 6;

export const openPalette = () => {
  open.value = true;
};

/** What can be done from anywhere, besides going to a page. */
const DOINGS: readonly Target[] = [
  { label: 'New agent', also: 'create add', href: '/agents/new', kind: 'page' },
  { label: 'Buy a number', also: 'add phone', href: '/numbers/buy', kind: 'page' },
  { label: 'Failed calls', also: 'errors', href: '/calls?status=failed', kind: 'page' },
];
/** As who is signed in may see them. */
const pages = (): readonly Target[] => [
  ...ROUTES.filter(({ needs }) => needs === undefined || may(needs)).flatMap(({ nav, path }): Target[] =>
    nav === undefined ? [] : [{ label: nav.label, href: path, kind: 'page' }],
  ),
  ...(may('operate') ? DOINGS : DOINGS.slice(-1)),
];
const ICONS: Record<Target['kind'], IconName> = { page: 'next', agent: 'agents', call: 'calls' };

const targetOf = (call: Call): Target => ({
  label: `${call.direction === 'inbound' ? 'From' : 'To'} ${phone(otherSide(call))}`,
  also: outcomeOf(call).words,
  href: `/calls/${call.id}`,
  kind: 'call',
});

/** Stands once in the shell, and listens to the keys that open it. */
export function PaletteHost() {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const short = event.key.toLowerCase() === 'k' && (event.metaKey || event.ctrlKey) && !event.altKey;
      const plain = !event.metaKey && !event.ctrlKey && !event.altKey;
      const slash = event.key === '/' && plain && !isTyping(document.activeElement as HTMLElement | null);
      // Another dialog is asking something.
      if ((!short && !slash) || document.querySelector('dialog[open]') !== null) return;
      event.preventDefault();
      open.value = true;
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, []);
  return open.value ? html`<${Palette} />` : null;
}

function Palette() {
  const [typed, setTyped] = useState('');
  const [agents, setAgents] = useState<readonly Target[]>([]);
  const [calls, setCalls] = useState<readonly Target[]>([]);
  const [at, setAt] = useState(0);
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  const close = () => {
    open.value = false;
  };
  useEffect(() => {
    let left = false;
    api.agents
      .list({ limit: 100 })
      .all(300)
      .then((found: AgentSummary[]) => {
        if (!left)
          setAgents(
            found.map((agent) => ({ label: agent.name, href: `/agents/${agent.id}`, kind: 'agent' })),
          );
      })
      // Pages are found all the same.
      .catch(() => {});
    return () => {
      left = true;
    };
  }, []);
  useEffect(() => {
    setAt(0);
    setCalls([]);
    const wanted = typed.trim();
    const asking = new AbortController();
    const { signal } = asking;
    const find = async () => {
      const one = callById(wanted);
      const found =
        one === null
          ? (await api.calls.list({ search: wanted.slice(0, 100), limit: MOST_CALLS }, { signal })).data
          : [await api.calls.get(one, { signal })];
      if (!signal.aborted) setCalls(found.map(targetOf));
    };
    const timer =
      wanted.length < LEAST ? undefined : setTimeout(() => void find().catch(() => {}), TYPING_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [typed]);
  const found = [
    ...fitting(typed, pages(), 8),
    ...(typed.trim() === '' ? [] : fitting(typed, agents, 6)),
    ...calls,
  ];
  const search: Target[] =
    typed.trim().length < LEAST
      ? []
      : [
          {
            label: `Search all calls for “${typed.trim()}”`,
            href: `/calls?search=${encodeURIComponent(typed.trim().slice(0, 100))}`,
            kind: 'call',
          },
        ];
  const shown = [...found, ...search];
  const chosen = Math.min(at, shown.length - 1);
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const go = (target: Target | undefined) => {
    if (target === undefined) return;
    close();
    void navigate(target.href);
  };
  return html`<${Dialog} title="Go to" onClose=${close}>
    <input
      type="text"
      class="palette-field"
      role="combobox"
      aria-label="Page, agent, or a call by number or words"
      aria-expanded="true"
      aria-controls=${`${id}-list`}
      aria-activedescendant=${shown.length === 0 ? undefined : `${id}-${chosen}`}
      aria-autocomplete="list"
      autocomplete="off"
      spellcheck=${false}
      placeholder="Page, agent, or a call by number or words"
      value=${typed}
      onInput=${(event: Event) => setTyped((event.target as HTMLInputElement).value)}
      onKeyDown=${(event: KeyboardEvent) => {
        const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
        if (step !== undefined && shown.length > 0) {
          event.preventDefault();
          setAt((chosen + step + shown.length) % shown.length);
        }
        if (event.key === 'Enter' && !event.isComposing) {
          event.preventDefault();
          go(shown[chosen]);
        }
      }}
    />
    <ul class="palette-list" role="listbox" id=${`${id}-list`} aria-label="Where to" ref=${list}>
      ${shown.map(
        (target, index) => html`<li
          key=${`${target.kind} ${target.href} ${target.label}`}
          id=${`${id}-${index}`}
          role="option"
          aria-selected=${index === chosen ? 'true' : 'false'}
          onMouseMove=${() => setAt(index)}
          onClick=${() => go(target)}
        >
          <${Icon} name=${ICONS[target.kind]} size=${16} /><span>${target.label}</span>
          <span class="dim small">${target.kind === 'call' ? target.also : target.kind === 'agent' ? 'Agent' : null}</span>
        </li>`,
      )}
    </ul>
    ${shown.length === 0 ? html`<p class="dim" role="status">Nothing fits.</p>` : null}
    <p class="palette-help dim small"><kbd>↑</kbd> <kbd>↓</kbd> to choose, <kbd>Enter</kbd> to go, <kbd>Esc</kbd> to stay</p>
  <//>`;
}
