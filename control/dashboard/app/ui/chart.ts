// A chart over time: uPlot for the eye, the same figures as a table for screen readers, the style sheet's colours.
import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { absoluteTime } from '../format.ts';
import { colour, look } from './theme.ts';

export interface Series {
  label: string;
  values: readonly (number | null)[];
  /** A custom property of the style sheet. */
  colour: `--${string}`;
}

interface ChartProps {
  title: string;
  /** ISO 8601, one for each value. */
  times: readonly string[];
  series: readonly Series[];
  kind: 'bars' | 'line';
  /** Bars stand on each other; series in the order from the foot. */
  stacked?: boolean;
  format: (value: number | null) => string;
  height?: number;
}

const AXIS_FONT = '11px system-ui, sans-serif';

/** Each series on top of those before it: what is drawn when bars are stacked. */
function piled(series: readonly Series[]): (number | null)[][] {
  const sums: number[] = [];
  return series.map(({ values }) =>
    values.map((value, at) => {
      sums[at] = (sums[at] ?? 0) + (value ?? 0);
      return sums[at];
    }),
  );
}

function optionsOf(props: ChartProps, width: number): uPlot.Options {
  const line = colour('--line');
  const text = colour('--text-dim');
  const hours = props.times.length > 1 && spanMs(props.times) <= 36 * 3_600_000;
  const paths = uPlot.paths;
  const drawn = props.stacked === true ? [...props.series].reverse() : props.series;
  return {
    width,
    height: props.height ?? 180,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, points: { size: 7 }, drag: { x: false, y: false } },
    scales: {
      x: { time: true, range: (_chart, min, max) => rangeOf(props, min, max) },
      y: { range: (_chart, _min, max) => [0, max === null || max <= 0 ? 1 : max * 1.12] },
    },
    axes: [
      {
        stroke: text,
        font: AXIS_FONT,
        grid: { show: false },
        ticks: { stroke: line, width: 1, size: 4 },
        space: 64,
        size: 30,
        values: (_chart, splits) => splits.map((at) => axisTime(at * 1000, hours)),
      },
      {
        stroke: text,
        font: AXIS_FONT,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        size: 58,
        space: 28,
        values: (_chart, splits) => splits.map((value) => props.format(value)),
      },
    ],
    series: [
      {},
      ...drawn.map((one): uPlot.Series => {
        const ink = colour(one.colour);
        return props.kind === 'bars'
          ? {
              label: one.label,
              stroke: ink,
              fill: ink,
              width: 0,
              points: { show: false },
              ...(paths.bars === undefined ? {} : { paths: paths.bars({ size: [0.72, 28], radius: 0.12 }) }),
            }
          : { label: one.label, stroke: ink, width: 2, spanGaps: false, points: { size: 5, fill: ink } };
      }),
    ],
  };
}

const spanMs = (times: readonly string[]) => Date.parse(times.at(-1) ?? '') - Date.parse(times[0] ?? '');

/** Half a step of room on both sides, so that the first and last bars are whole. */
function rangeOf(props: ChartProps, min: number, max: number): [number, number] {
  const step = props.times.length > 1 ? spanMs(props.times) / 1000 / (props.times.length - 1) : 3600;
  return [min - step / 2, max + step / 2];
}

const axisTime = (ms: number, hours: boolean) =>
  hours
    ? new Date(ms).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
    : new Date(ms).toLocaleDateString('en-GB', { day: 'numeric', month: 'short' });

export function Chart(props: ChartProps) {
  const frame = useRef<HTMLDivElement>(null);
  const tip = useRef<HTMLDivElement>(null);
  const look_ = look.value;
  const empty = props.series.every(({ values }) => values.every((value) => value === null || value === 0));
  const drawnKey = JSON.stringify([props.times, props.series, props.kind]);
  useEffect(() => {
    const element = frame.current;
    if (element === null || props.times.length === 0 || empty) return;
    const heights =
      props.stacked === true ? piled(props.series).reverse() : props.series.map(({ values }) => values);
    const data = [props.times.map((time) => Date.parse(time) / 1000), ...heights] as uPlot.AlignedData;
    const options = optionsOf(props, element.clientWidth);
    const chart = new uPlot(
      { ...options, hooks: { setCursor: [(self) => showTip(self, props, tip.current)] } },
      data,
      element,
    );
    const resize = new ResizeObserver(() => {
      if (element.clientWidth > 0) chart.setSize({ width: element.clientWidth, height: props.height ?? 180 });
    });
    resize.observe(element);
    return () => {
      resize.disconnect();
      chart.destroy();
    };
  }, [drawnKey, look_]);
  return html`<figure class="chart">
    <figcaption>
      <span class="chart-title">${props.title}</span>
      ${
        props.series.length < 2
          ? null
          : html`<span class="legend" aria-hidden="true"
              >${props.series.map(
                (one) =>
                  html`<span key=${one.label}><i class=${`swatch ${one.colour.slice(2)}`}></i>${one.label}</span>`,
              )}</span
            >`
      }
    </figcaption>
    ${empty ? html`<p class="dim">Nothing to draw yet.</p>` : null}
    <div class="chart-frame" ref=${frame} aria-hidden="true"><div class="chart-tip" ref=${tip} hidden></div></div>
    <div class="sr-only">
      <table>
        <caption>${props.title}</caption>
        <thead>
          <tr><th scope="col">Time</th>${props.series.map((one) => html`<th scope="col">${one.label}</th>`)}</tr>
        </thead>
        <tbody>
          ${props.times.map(
            (time, at) => html`<tr key=${time}>
              <th scope="row">${absoluteTime(time)}</th>
              ${props.series.map((one) => html`<td>${props.format(one.values[at] ?? null)}</td>`)}
            </tr>`,
          )}
        </tbody>
      </table>
    </div>
  </figure>`;
}

function showTip(chart: uPlot, props: ChartProps, tip: HTMLDivElement | null): void {
  if (tip === null) return;
  const at = chart.cursor.idx;
  const left = chart.cursor.left ?? -1;
  if (at === null || at === undefined || left < 0) {
    tip.hidden = true;
    return;
  }
  tip.hidden = false;
  const time = props.times[at] ?? '';
  tip.replaceChildren(
    absoluteTime(time).replace(/:\d\d$/, ''),
    ...props.series.map((one) => {
      const row = document.createElement('div');
      const swatch = document.createElement('i');
      swatch.className = `swatch ${one.colour.slice(2)}`;
      row.append(swatch, `${one.label} ${props.format(one.values[at] ?? null)}`);
      return row;
    }),
  );
  const room = chart.root.clientWidth - tip.offsetWidth - 4;
  tip.style.transform = `translateX(${Math.max(0, Math.min(room, left + 70))}px)`;
}
