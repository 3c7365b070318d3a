// The icons: strokes on a 24 by 24 grid, drawn in the text's colour, silent for screen readers.
import { html } from 'htm/preact';

const PATHS = {
  overview: 'M4 20V11M10 20V4M16 20v-6M22 20H2',
  live: 'M12 12h.01M8.5 15.5a5 5 0 0 1 0-7M15.5 8.5a5 5 0 0 1 0 7M5.6 18.4a9 9 0 0 1 0-12.8M18.4 5.6a9 9 0 0 1 0 12.8',
  calls: 'M5 4h4l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v4a1 1 0 0 1-1 1A16 16 0 0 1 4 5a1 1 0 0 1 1-1z',
  agents: 'M12 4a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM5 20a7 7 0 0 1 14 0',
  try: 'M12 3a3 3 0 0 1 3 3v5a3 3 0 0 1-6 0V6a3 3 0 0 1 3-3zM6 11a6 6 0 0 0 12 0M12 17v4',
  numbers: 'M10 4 8 20M16 4l-2 16M4 9h16M4 15h16',
  webhooks:
    'M9 8a3.5 3.5 0 1 1 5 3.2l3 5.3M12 8l-3.5 6.5A3.5 3.5 0 1 1 5 14.6M17.5 13.6A3.5 3.5 0 1 1 14.6 18H9',
  keys: 'M8 18a4 4 0 1 1 2.8-6.8L20 4M17 6.5l2.5 2.5M14.5 9l2 2',
  settings: 'M4 7h9M17 7h3M15 5v4M4 12h3M11 12h9M9 10v4M4 17h11M19 17h1M17 15v4',
  campaigns: 'M4 10v4h3l9 5V5L7 10zM19.5 9a4.5 4.5 0 0 1 0 6M8 14l1.5 6H12l-1-4.5',
  shield: 'M12 3 4.5 6v5.5c0 4.5 3 7.8 7.5 9.5 4.5-1.7 7.5-5 7.5-9.5V6zM9 12l2.2 2.2L15.3 10',
  alerts: 'M6 16V11a6 6 0 0 1 12 0v5l1.5 2h-15zM10 21h4',
  people:
    'M9 5a3.5 3.5 0 1 1 0 7 3.5 3.5 0 0 1 0-7zM2.5 20a6.5 6.5 0 0 1 13 0M16 5.3a3.5 3.5 0 0 1 0 6.4M18 14.3a6.5 6.5 0 0 1 3.5 5.7',
  audit: 'M6 3h12v18H6zM9.5 8h5M9.5 12h5M9.5 16h3',
  kept: 'M4 5h16v4H4zM5.5 9v10h13V9M10 13h4',
  download: 'M12 4v11M7.5 11l4.5 4.5L16.5 11M5 20h14',
  more: 'M4 7h16M4 12h16M4 17h16',
  close: 'M6 6l12 12M18 6 6 18',
  check: 'M5 12.5 10 17 19 7',
  copy: 'M9 9h10v11H9zM6 15H5V4h10v2',
  warn: 'M12 4 2.5 20h19zM12 10v4M12 17h.01',
  info: 'M12 3a9 9 0 1 1 0 18 9 9 0 0 1 0-18zM12 11v5M12 8h.01',
  play: 'M8 5v14l11-7z',
  pause: 'M8 5v14M16 5v14',
  hangup: 'M3 14c0-6 18-6 18 0v2.5h-5V13.5a13 13 0 0 0-8 0v3H3z',
  inbound: 'M19 5 6 18M6 9v9h9',
  outbound: 'M5 19 18 6M9 6h9v9',
  search: 'M10.5 4a6.5 6.5 0 1 1 0 13 6.5 6.5 0 0 1 0-13zM15.5 15.5 20 20',
  sun: 'M12 8a4 4 0 1 1 0 8 4 4 0 0 1 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5',
  moon: 'M19 14.5A7.5 7.5 0 0 1 9.5 5a7.5 7.5 0 1 0 9.5 9.5z',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  leave: 'M14 4H5v16h9M10 12h11M17 8l4 4-4 4',
  plus: 'M12 5v14M5 12h14',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  edit: 'M4 20l1-5L16 4l4 4L9 19z',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 4v7h-7',
  tool: 'M9 4H7.5A2.5 2.5 0 0 0 5 6.5V9a3 3 0 0 1-2 3 3 3 0 0 1 2 3v2.5A2.5 2.5 0 0 0 7.5 20H9M15 4h1.5A2.5 2.5 0 0 1 19 6.5V9a3 3 0 0 0 2 3 3 3 0 0 0-2 3v2.5a2.5 2.5 0 0 1-2.5 2.5H15',
  next: 'M9 5l7 7-7 7',
  back: 'M15 5l-7 7 7 7',
  down: 'M5 9l7 7 7-7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon(props: { name: IconName; size?: number }) {
  const size = props.size ?? 18;
  return html`<svg
    class="icon"
    width=${size}
    height=${size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    stroke-width="1.75"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
  >
    <path d=${PATHS[props.name]} />
  </svg>`;
}
