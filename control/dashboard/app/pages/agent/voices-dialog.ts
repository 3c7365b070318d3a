// The voices of the chosen speech model, to be heard one after the other before one is taken.
import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { SpeechModel } from '../../../../sdk/index.ts';
import { BrowserCallError } from '../../call-line.ts';
import { money } from '../../format.ts';
import type { AgentForm } from '../../forms/agent-form.ts';
import { languageName } from '../../forms/languages.ts';
import { voiceChoices } from '../../forms/model-choice.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { ErrorNote, Note } from '../../ui/feedback.ts';
import { Badge } from '../../ui/status.ts';
import { announce } from '../../ui/toast.ts';
import { costOf, hearVoice, playSample, sampleOf, type VoiceWanted } from './voice-samples.ts';

/** One voice at a time: another one stops the one before. */
function useHearing() {
  const [playing, setPlaying] = useState<string | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [cost, setCost] = useState<number | null>(null);
  const current = useRef<AbortController | null>(null);
  const stop = () => current.current?.abort();
  useEffect(() => stop, []);
  const hear = async (wanted: VoiceWanted) => {
    stop();
    const mine = new AbortController();
    current.current = mine;
    setPlaying(wanted.voice);
    setError(null);
    announce(`${wanted.voice} is heard.`);
    try {
      const kept = sampleOf(wanted);
      if (kept !== null) await playSample(kept, mine.signal);
      else {
        const sample = await hearVoice(wanted, mine.signal);
        if (sample !== null) void costOf(sample.callId).then((spent) => spent !== null && setCost(spent));
      }
    } catch (thrown) {
      if (current.current === mine) setError(thrown);
    } finally {
      if (current.current === mine) {
        current.current = null;
        setPlaying(null);
      }
    }
  };
  return { playing, error, cost, hear, stop };
}

export function VoicesDialog(props: {
  form: AgentForm;
  models: readonly SpeechModel[];
  onChoose: (voice: string) => void;
  onClose: () => void;
}) {
  const { form, models } = props;
  const { playing, error, cost, hear, stop } = useHearing();
  const model = models.find((one) => (form.model === '' ? one.is_default : one.name === form.model));
  const standard = model?.default_voice ?? '';
  const language = form.language.trim();
  const voices = voiceChoices(models, form).map(({ value }) => (value === '' ? standard : value));
  return html`<${Dialog} title="Hear the voices" wide onClose=${props.onClose}>
    <div class="stack">
      <p class="dim">
        Each is spoken by ${model?.name ?? 'the speech model'} itself, in ${language === '' ? 'English' : (languageName(language) ?? language)}, over the sound of a phone line.
        Hearing one is a call of a few seconds: it costs what those seconds cost, and stands under Calls.
        Heard once, it is kept while this page is open.
        ${cost === null ? null : html`<span> The last one cost about <strong class="digits">${money(cost)}</strong>.</span>`}
      </p>
      ${
        error instanceof BrowserCallError
          ? html`<div role="alert"><${Note} kind="warn" title="It could not be heard."><p>${error.message}</p><//></div>`
          : html`<${ErrorNote} error=${error} title="It could not be heard." />`
      }
      <ul class="voices">
        ${voices.map((voice) => {
          const wanted = { voice, model: form.model, language };
          const chosen = voice === (form.voice === '' ? standard : form.voice);
          const isPlaying = playing === voice;
          return html`<li key=${voice} class=${isPlaying ? 'voice playing' : 'voice'}>
            <${Button}
              small
              kind="quiet"
              icon=${isPlaying ? 'pause' : 'play'}
              label=${isPlaying ? `Stop ${voice}` : `Hear ${voice}`}
              pressed=${isPlaying}
              onClick=${() => (isPlaying ? stop() : void hear(wanted))}
            />
            <span class="voice-name">${voice}</span>
            ${chosen ? html`<${Badge} tone="info" dot=${false}>Chosen<//>` : html`<${Button} small label=${`Choose ${voice}`} onClick=${() => props.onChoose(voice)}>Choose<//>`}
          </li>`;
        })}
      </ul>
    </div>
  <//>`;
}
