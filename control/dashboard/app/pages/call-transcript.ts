// The words of a call: heard and cut told apart, tools in between, each line a way to its place in the recording.
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import type { CallGap, TranscriptItem } from '../../../sdk/index.ts';
import { gapLabel, withGaps } from '../call-gaps.ts';
import { clock } from '../format.ts';
import { heardParts, toolCall } from '../spoken.ts';
import { EmptyState } from '../ui/feedback.ts';
import { Icon } from '../ui/icon.ts';
import { Badge } from '../ui/status.ts';

const WHO = { agent: 'Agent', caller: 'Other side', tool: 'Tool', system: 'Service' } as const;

/** One line. */
function Line(props: { item: TranscriptItem }) {
  const { item } = props;
  if (item.role === 'tool') return html`<${ToolLine} item=${item} />`;
  const { heard, cut } = heardParts(item);
  // The text is there before its sound: what is still to be heard is not as firm as what was.
  const saying = item.role === 'agent' && item.end_ms === null && !item.interrupted;
  const pending = item.role === 'caller' && item.text === '';
  return html`<div class=${saying ? `line ${item.role} saying` : `line ${item.role}`}>
    <span class="line-who">${WHO[item.role]}</span>
    <p class="line-text">
      ${pending ? html`<span class="dim">…<span class="sr-only">words are being made out</span></span>` : heard}${
        cut === ''
          ? null
          : html`<span class="sr-only"> (not heard, cut off: </span><del>${cut}</del><span class="sr-only">)</span>`
      }
    </p>
  </div>`;
}

function ToolLine(props: { item: TranscriptItem }) {
  const tool = toolCall(props.item.text);
  // What those do is short: it stands beside the name.
  const builtIn = tool.ok === null && tool.output === '';
  return html`<div class="line tool">
    <span class="line-who"><${Icon} name="tool" size=${14} /><span class="sr-only">Tool</span></span>
    <div class="line-text">
      <code>${tool.name}</code>
      ${builtIn ? html` ${tool.arguments}` : null}
      ${tool.ok === null ? null : html` <${Badge} tone=${tool.ok ? 'ok' : 'bad'}>${tool.ok ? 'Answered' : 'Failed'}<//>`}
      ${
        builtIn || (tool.arguments === '' && tool.output === '')
          ? null
          : html`<details>
              <summary class="small">What was asked and answered</summary>
              ${tool.arguments === '' ? null : html`<p class="label small">Asked</p><pre>${tool.arguments}</pre>`}
              ${tool.output === '' ? null : html`<p class="label small">Answered</p><pre>${tool.output}</pre>`}
            </details>`
      }
    </div>
  </div>`;
}

interface TranscriptProps {
  items: readonly TranscriptItem[];
  gaps: readonly CallGap[];
  live: boolean;
  /** The line that is heard now; -1: none. */
  current: number;
  /** Whether it plays: then the list follows. */
  playing: boolean;
  /** Missing: there is no recording to go to. */
  seek?: (ms: number) => void;
}

/** The whole of it. Follows the recording while it plays, and the talk while the call lasts. */
export function TranscriptView(props: TranscriptProps) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const box = list.current;
    if (box === null || !props.playing || props.current < 0) return;
    const line = box.querySelector<HTMLElement>('li.current');
    if (line !== null) bringInto(box, line);
  }, [props.current, props.playing]);
  useEffect(() => {
    const box = list.current;
    // Only a reader who is at the end is taken along.
    if (box === null || !props.live) return;
    if (box.scrollHeight - box.scrollTop - box.clientHeight < 160) box.scrollTop = box.scrollHeight;
  }, [props.items, props.live]);
  if (props.items.length === 0) {
    return html`<${EmptyState} title=${props.live ? 'Nobody has spoken yet.' : 'Nothing was said.'}>
      ${props.live ? 'Words show up here as they are spoken.' : 'The call ended before anybody spoke.'}
    <//>`;
  }
  const current = props.items[props.current];
  const hasCut = props.items.some((item) => heardParts(item).cut !== '');
  return html`
    ${hasCut ? html`<p class="small dim"><del>Struck words</del> were made but never heard: the agent was interrupted.</p>` : null}
    <ol class="transcript" ref=${list} tabindex="0" aria-label="Transcript">
      ${withGaps(props.items, props.gaps, ({ start_ms }) => start_ms).map(({ item, gap }) => {
        if (gap !== undefined)
          return html`<${GapLine} key=${`gap ${gap.from_ms}`} gap=${gap} over=${!props.live} />`;
        const isCurrent = item === current;
        return html`<li key=${item.id} class=${isCurrent ? 'current' : undefined} aria-current=${isCurrent ? 'true' : undefined}>
          ${
            props.seek === undefined
              ? html`<span class="line-time digits">${clock(item.start_ms)}</span>`
              : html`<button
                  class="line-time digits"
                  aria-label=${`Play from ${clock(item.start_ms)}`}
                  onClick=${() => props.seek?.(item.start_ms)}
                >
                  ${clock(item.start_ms)}
                </button>`
          }
          <div
            class=${props.seek === undefined ? 'line-body' : 'line-body seekable'}
            onClick=${(event: MouseEvent) => {
              // A press on the words is a shortcut; selecting them or opening a tool's answer is not one.
              if ((event.target as Element).closest('details, a, button') || getSelection()?.type === 'Range')
                return;
              props.seek?.(item.start_ms);
            }}
          >
            <${Line} item=${item} />
          </div>
        </li>`;
      })}
    </ol>`;
}

/** Between the lines: nobody heard anything here. */
function GapLine(props: { gap: CallGap; over: boolean }) {
  return html`<li class="line-gap">
    <span class="line-time digits">${clock(props.gap.from_ms)}</span>
    <p class="small">${gapLabel(props.gap, props.over)}</p>
  </li>`;
}

/** Scrolls within the list only: the page stays where the reader has it. */
function bringInto(box: HTMLElement, line: HTMLElement): void {
  const top = line.offsetTop - box.offsetTop;
  if (top >= box.scrollTop && top + line.offsetHeight <= box.scrollTop + box.clientHeight) return;
  const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
  box.scrollTo({ top: top - box.clientHeight / 3, behavior: calm ? 'auto' : 'smooth' });
}
