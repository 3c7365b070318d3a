// The recording of a call: a player over the two waveforms. The audio element streams; the waveforms are worked out while
// the file is read once (wav-peaks.ts), so that a long call is never decoded whole.
import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import WaveSurfer from 'wavesurfer.js';
import { recordingUrl } from '../api.ts';
import { bytes, clock, duration } from '../format.ts';
import { SessionError, sessionFetch } from '../session.ts';
import { Button } from '../ui/button.ts';
import { ErrorNote, Skeleton } from '../ui/feedback.ts';
import { Select } from '../ui/field.ts';
import { colour, look } from '../ui/theme.ts';
import { readWavPeaks } from '../wav-peaks.ts';

const HEIGHT_PX = 56;
/** Steps of the whole waveform: more than a wide screen has pixels. */
const STEPS = 3000;
const BYTES_PER_SECOND = 32_000;

export interface Player {
  audio: HTMLAudioElement;
  positionMs: ReadonlySignal<number>;
  playing: ReadonlySignal<boolean>;
  durationMs: Signal<number>;
  error: ReadonlySignal<unknown>;
  /** Goes there; plays on when `play` says so. */
  seek: (ms: number, play?: boolean) => void;
  toggle: () => void;
  close: () => void;
}

/** A player of a call's recording. Nothing is fetched before it is shown or played. */
export function openPlayer(callId: string): Player {
  const audio = new Audio();
  audio.preload = 'metadata';
  audio.src = recordingUrl(callId);
  const positionMs = signal(0);
  const playing = signal(false);
  const durationMs = signal(0);
  const error = signal<unknown>(null);
  let frame = 0;
  const follow = () => {
    positionMs.value = audio.currentTime * 1000;
    frame = audio.paused ? 0 : requestAnimationFrame(follow);
  };
  const on = (name: string, does: () => void) => audio.addEventListener(name, does);
  on('play', () => {
    playing.value = true;
    cancelAnimationFrame(frame);
    follow();
  });
  on('pause', () => {
    playing.value = false;
  });
  on('seeked', follow);
  on('loadedmetadata', () => {
    if (Number.isFinite(audio.duration)) durationMs.value = audio.duration * 1000;
  });
  on('error', () => {
    error.value = new Error('The browser could not play the recording.');
  });
  const play = () => {
    audio.play().catch((thrown: unknown) => {
      if ((thrown as Error).name !== 'AbortError') error.value = thrown;
    });
  };
  return {
    audio,
    positionMs,
    playing: computed(() => playing.value),
    durationMs,
    error: computed(() => error.value),
    seek(ms, andPlay = false) {
      audio.currentTime = Math.max(0, ms / 1000);
      positionMs.value = Math.max(0, ms);
      if (andPlay && audio.paused) play();
    },
    toggle() {
      if (audio.paused) play();
      else audio.pause();
    },
    close() {
      cancelAnimationFrame(frame);
      audio.pause();
      audio.removeAttribute('src');
      audio.load();
    },
  };
}

interface Shape {
  channels: Float32Array[];
  durationMs: number;
}

/** Reads the file once. `onShare` hears how far it has come, of one. */
async function readShape(
  callId: string,
  stop: AbortSignal,
  onShare: (share: number) => void,
): Promise<Shape> {
  const response = await sessionFetch(recordingUrl(callId), { signal: stop });
  if (!response.ok || response.body === null) {
    const answer = (await response.json().catch(() => null)) as { error?: object } | null;
    throw new SessionError(response.status, answer?.error ?? {});
  }
  const total = Number(response.headers.get('content-length') ?? 0);
  const seconds = Math.max(1, total / BYTES_PER_SECOND);
  const peaks = readWavPeaks(Math.min(100, Math.max(1, STEPS / seconds)));
  const reader = response.body.getReader();
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return peaks.peaks();
    peaks.take(value);
    read += value.length;
    if (total > 0) onShare(read / total);
  }
}

export function CallAudio(props: { callId: string; player: Player; fileBytes: number | null }) {
  const { callId, player } = props;
  const [shape, setShape] = useState<Shape | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [share, setShare] = useState(0);
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setError(null);
    readShape(callId, stop.signal, setShare).then(
      (found) => {
        player.durationMs.value = found.durationMs;
        setShape(found);
      },
      (thrown: unknown) => {
        if (!stop.signal.aborted) setError(thrown);
      },
    );
    return () => stop.abort();
  }, [callId, round]);
  return html`<div class="player">
    ${
      error === null
        ? shape === null
          ? html`<div class="wave-loading" aria-busy="true">
              <${Skeleton} height="card" />
              <p class="small dim">Reading the recording${share > 0 ? `: ${Math.round(share * 100)} %` : ''}</p>
            </div>`
          : html`<${Waves} shape=${shape} player=${player} />`
        : html`<${ErrorNote}
            error=${error}
            title="The waveforms could not be drawn."
            retry=${() => setRound((now) => now + 1)}
          />`
    }
    <${Controls} callId=${callId} player=${player} fileBytes=${props.fileBytes} />
    <${ErrorNote} error=${player.error.value} title="The recording cannot be played." />
  </div>`;
}

/** Two waveforms, the other side above, the agent below; a press goes there. Silent for screen readers: the slider is theirs. */
function Waves(props: { shape: Shape; player: Player }) {
  const box = useRef<HTMLDivElement>(null);
  const shade = look.value;
  useEffect(() => {
    if (box.current === null || props.shape.durationMs === 0) return;
    const side = (name: 'caller' | 'agent') => ({
      waveColor: colour(`--${name}-wave`),
      progressColor: colour(`--${name}`),
    });
    const host = document.createElement('div');
    const waves = WaveSurfer.create({
      container: host,
      media: props.player.audio,
      peaks: props.shape.channels,
      duration: props.shape.durationMs / 1000,
      height: HEIGHT_PX,
      barWidth: 2,
      barGap: 1,
      barRadius: 1,
      barMinHeight: 1,
      cursorColor: colour('--text'),
      cursorWidth: 1,
      normalize: false,
      hideScrollbar: true,
      dragToSeek: true,
      splitChannels: [side('caller'), side('agent')],
    });
    adoptStyles(host);
    box.current.append(host);
    return () => {
      waves.destroy();
      host.remove();
    };
  }, [props.shape, shade]);
  return html`<div class="waves" aria-hidden="true">
    <div class="wave-names small"><span class="caller">Other side</span><span class="agent">Agent</span></div>
    <div class="wave-box" ref=${box}></div>
  </div>`;
}

/** The waveform brings a style element in its shadow tree, which the page's policy refuses: a sheet made by script is not. */
function adoptStyles(host: HTMLElement): void {
  const shadow = host.firstElementChild?.shadowRoot;
  const style = shadow?.querySelector('style');
  if (!shadow || !style) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style.textContent ?? '');
  shadow.adoptedStyleSheets = [sheet];
  style.remove();
}

function Controls(props: { callId: string; player: Player; fileBytes: number | null }) {
  const { player } = props;
  const [rate, setRate] = useState('1');
  const nowMs = player.positionMs.value;
  const endMs = player.durationMs.value;
  const playing = player.playing.value;
  return html`<div class="player-controls">
    <${Button}
      kind="primary"
      icon=${playing ? 'pause' : 'play'}
      label=${playing ? 'Pause' : 'Play'}
      onClick=${player.toggle}
    />
    <span class="digits player-time">${clock(nowMs)}<span class="dim"> / ${clock(endMs)}</span></span>
    <input
      class="player-slider"
      type="range"
      min="0"
      max=${Math.max(1, Math.round(endMs / 1000))}
      step="1"
      value=${Math.round(nowMs / 1000)}
      aria-label="Position in the recording"
      aria-valuetext=${`${clock(nowMs)} of ${duration(endMs)}`}
      onInput=${(event: Event) => player.seek(Number((event.target as HTMLInputElement).value) * 1000)}
      onKeyDown=${(event: KeyboardEvent) => {
        if (event.key !== ' ') return;
        event.preventDefault();
        player.toggle();
      }}
    />
    <${Select}
      label="Speed"
      hideLabel
      value=${rate}
      options=${['0.75', '1', '1.25', '1.5', '2'].map((value) => ({ value, label: `${value} ×` }))}
      onChange=${(value: string) => {
        setRate(value);
        player.audio.playbackRate = Number(value);
      }}
    />
    <a class="button quiet small" href=${recordingUrl(props.callId)} download=${`${props.callId}.wav`}
      >Download${props.fileBytes === null ? '' : ` (${bytes(props.fileBytes)})`}</a
    >
  </div>`;
}
