// The frame around every page once someone is signed in: navigation at the side, or at the foot of a narrow screen.
import { html } from 'htm/preact';
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { liveCount } from '../live-stream.ts';
import type { PageProps } from '../route-match.ts';
import { matchRoute } from '../route-match.ts';
import { AT_FOOT, NAV_GROUPS, ROUTES, type Route } from '../routes.ts';
import { logOut, may, session } from '../session.ts';
import { Button } from './button.ts';
import { ConfirmHost, Dialog } from './dialog.ts';
import { EmptyState, ErrorNote, Skeleton } from './feedback.ts';
import { Segments } from './field.ts';
import { Icon } from './icon.ts';
import { useAction } from './load.ts';
import { Page } from './page.ts';
import { openPalette, PaletteHost } from './palette.ts';
import { path } from './router.ts';
import { chooseTheme, type Theme, theme } from './theme.ts';
import { Toasts } from './toast.ts';

function isCurrent(route: Route): boolean {
  return route.path === '/' ? path.value === '/' : `${path.value}/`.startsWith(`${route.path}/`);
}

function Entry(props: { route: Route; onClick?: () => void }) {
  const { route } = props;
  const live = route.path === '/live' ? liveCount.value : 0;
  return html`<a
    href=${route.path}
    class="nav-entry"
    aria-current=${isCurrent(route) ? 'page' : undefined}
    onClick=${props.onClick}
  >
    <${Icon} name=${route.nav?.icon ?? 'next'} size=${18} />
    <span>${route.nav?.label}</span>
    ${live > 0 ? html`<span class="nav-count digits">${live}<span class="sr-only"> now</span></span>` : null}
  </a>`;
}

function Entries(props: { onClick?: () => void }) {
  return html`${NAV_GROUPS.map(({ id, label }) => {
    const routes = ROUTES.filter(
      ({ nav, needs }) => nav?.group === id && (needs === undefined || may(needs)),
    );
    return routes.length === 0
      ? null
      : html`<div class="nav-group" key=${id}>
          <p class="nav-label" id=${`nav-${id}`}>${label}</p>
          <ul aria-labelledby=${`nav-${id}`}>
            ${routes.map((route) => html`<li key=${route.path}><${Entry} route=${route} onClick=${props.onClick} /></li>`)}
          </ul>
        </div>`;
  })}`;
}

function ThemeChoice() {
  return html`<${Segments}
    label="Colours"
    value=${theme.value}
    options=${[
      { value: 'system', label: 'Auto' },
      { value: 'light', label: 'Light' },
      { value: 'dark', label: 'Dark' },
    ]}
    onChange=${(value: string) => chooseTheme(value as Theme)}
  />`;
}

function Account() {
  const leave = useAction(logOut);
  const name = session.value?.organization?.name;
  return html`<div class="account">
    ${name === undefined ? null : html`<p class="account-name" title=${name}>${name}</p>`}
    <p class="small"><a href="/account" title="My account">${session.value?.user?.name ?? 'My account'}</a></p>
    <${ThemeChoice} />
    <${ErrorNote} error=${leave.error} title="You are still signed in." />
    <div class="account-foot">
      <${Button} small kind="quiet" icon="leave" busy=${leave.busy} onClick=${leave.run}>Sign out<//>
    </div>
    <p class="dim small">
      Offhook ${session.value?.version} · <a class="dim" href="/docs" target="_blank" rel="noopener">API reference</a>
    </p>
  </div>`;
}

export function Brand() {
  return html`<span class="brand">
    <svg width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
      <rect width="24" height="24" rx="6" class="brand-back" />
      <path d="M7 13.5a5 5 0 0 1 10 0M12 8.5V6M7 13.5v2.5M17 13.5v2.5M12 18h.01" class="brand-ink" />
    </svg>
    Offhook</span
  >`;
}

const ON_A_MAC = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens the field that finds everything, and says which keys do. */
function GoTo(props: { before?: () => void }) {
  return html`<button
    type="button"
    class="go-to"
    aria-keyshortcuts="Control+K Meta+K /"
    onClick=${() => {
      props.before?.();
      openPalette();
    }}
  >
    <${Icon} name="search" size=${16} /><span>Go to…</span><kbd aria-hidden="true">${ON_A_MAC ? '⌘K' : 'Ctrl K'}</kbd>
  </button>`;
}

/** Navigation, the page of the address, notices. */
export function Shell() {
  const [menu, setMenu] = useState(false);
  const close = () => setMenu(false);
  const first = ROUTES.filter(({ path }) => AT_FOOT.has(path));
  return html`<a class="skip" href="#main">Skip to the content</a>
    <div class="shell">
      <nav class="sidebar" aria-label="Main">
        <a class="brand-link" href="/" aria-label="Offhook: overview"><${Brand} /></a>
        <${GoTo} />
        <${Entries} />
        <${Account} />
      </nav>
      <main id="main" tabindex="-1"><${Outlet} /></main>
      <nav class="foot-nav" aria-label="Main, short">
        ${first.map((route) => html`<${Entry} key=${route.path} route=${route} />`)}
        <button
          class="nav-entry"
          aria-haspopup="dialog"
          aria-expanded=${menu}
          onClick=${() => setMenu(true)}
        >
          <${Icon} name="more" /><span>More</span>
        </button>
      </nav>
    </div>
    ${
      menu
        ? html`<${Dialog} title="Offhook" drawer onClose=${close}>
            <${GoTo} before=${close} />
            <nav class="drawer-nav" aria-label="All pages"><${Entries} onClick=${close} /></nav>
            <${Account} />
          <//>`
        : null
    }
    <${PaletteHost} /><${ConfirmHost} /><${Toasts} />`;
}

const loaded = new Map<Route, ComponentType<PageProps>>();

/** The page of the address; its outline while its module comes. */
function Outlet() {
  const found = matchRoute(ROUTES, path.value);
  const route = found?.route;
  const [failed, setFailed] = useState<unknown>(null);
  const [, setRound] = useState(0);
  useEffect(() => {
    setFailed(null);
    if (route === undefined || loaded.has(route)) return;
    let left = false;
    route.load().then(
      (page) => {
        loaded.set(route, page);
        if (!left) setRound((round) => round + 1);
      },
      (error: unknown) => {
        if (!left) setFailed(error);
      },
    );
    return () => {
      left = true;
    };
  }, [route]);
  if (found === null || route === undefined) return html`<${NotFound} />`;
  if (route.needs !== undefined && !may(route.needs)) return html`<${NotAllowed} />`;
  const Shown = loaded.get(route);
  if (Shown !== undefined) return html`<${Shown} key=${path.value} params=${found.params} />`;
  if (failed !== null) return html`<${ModuleFailed} />`;
  return html`<div class="page" aria-busy="true"><${Skeleton} lines=${5} /></div>`;
}

function NotFound(): ComponentChildren {
  return html`<${Page} title="No such page">
    <${EmptyState} title="There is nothing at this address." action=${html`<${Button} href="/">Go to the overview<//>`}>
      The link may be from an older version, or mistyped.
    <//>
  <//>`;
}

function NotAllowed(): ComponentChildren {
  return html`<${Page} title="Not for your role">
    <${EmptyState} icon="shield" title="This page is for owners." action=${html`<${Button} href="/">Go to the overview<//>`}>
      Ask an owner of your organization for it, or for another role.
    <//>
  <//>`;
}

/** A module of an older version is no longer served: after an update of the daemon. */
function ModuleFailed() {
  return html`<${Page} title="The page could not be loaded">
    <${EmptyState}
      title="The dashboard has probably been updated."
      action=${html`<${Button} kind="primary" onClick=${() => location.reload()}>Load it again<//>`}
    >
      This part of it did not come from the daemon. If it does not come after loading again, check that the daemon runs.
    <//>
  <//>`;
}
