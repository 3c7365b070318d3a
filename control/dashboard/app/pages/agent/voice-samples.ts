// Voices heard before one is chosen: each by a call of a few seconds from the page to the speech model that would speak, since
// nothing else says how it sounds. Heard once, a voice is kept while the page is open, and costs nothing again.
import type { Call } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { startBrowserCall } from '../../browser-call.ts';
import { LINE_RATE_HZ, MULAW } from '../../call-sound.ts';
import { languageName } from '../../forms/languages.ts';
import { ask } from '../../session.ts';

/** What is to be heard: a voice of a model, in a language. Empty: the default of each. */
export interface VoiceWanted {
  voice: string;
  model: string;
  language: string;
}

export interface VoiceSample {
  sound: Float32Array;
  callId: string;
}

/** After so long without sound it has said what it had to. */
const DONE_MS = 1_500;
/** No hearing lasts longer, whatever the model does. */
const LONGEST_MS = 15_000;
const COST_LOOK_MS = 1_000;
const COST_LOOKS = 15;

const heard = new Map<string, VoiceSample>();
const keyOf = (wanted: VoiceWanted) => JSON.stringify([wanted.model, wanted.voice, wanted.language]);

/** What was heard of it on this page; null: nothing yet. */
export const sampleOf = (wanted: VoiceWanted): VoiceSample | null => heard.get(keyOf(wanted)) ?? null;

function draftOf({ voice, model, language }: VoiceWanted) {
  const spoken = language === '' ? 'English' : (languageName(language) ?? language);
  return {
    name: `Voice ${voice}`,
    type: 'inbound',
    voice,
    model: model === '' ? null : model,
    language: language === '' ? null : language,
    instructions: `Somebody is choosing your voice and only listens; nobody answers you. Your first words, in ${spoken}: greet them, then say in two short sentences that this is how you sound on the phone and that you look forward to their calls. Ask nothing. After that say nothing more.`,
  };
}

/**
 * Has it said aloud, from a click, and keeps it. Resolves when it was heard or `stop` was asked for.
 * @throws BrowserCallError, or what the daemon answers
 */
export async function hearVoice(wanted: VoiceWanted, stop: AbortSignal): Promise<VoiceSample | null> {
  const pieces: Uint8Array[] = [];
  let finish: () => void = () => {};
  const finished = new Promise<void>((done) => {
    finish = done;
  });
  let quiet: ReturnType<typeof setTimeout> | undefined;
  let ended: string | null = null;
  stop.addEventListener('abort', () => finish());
  const call = await startBrowserCall({
    microphone: false,
    open: () => ask('POST', 'browser_calls', { draft: draftOf(wanted), text_only: true }),
    onState(state) {
      if (state.at !== 'ended') return;
      ended = state.message;
      finish();
    },
    onLevel() {},
    onVoice(payload) {
      pieces.push(payload);
      clearTimeout(quiet);
      quiet = setTimeout(finish, DONE_MS);
    },
  });
  const longest = setTimeout(finish, LONGEST_MS);
  if (!stop.aborted) await finished;
  clearTimeout(quiet);
  clearTimeout(longest);
  await call.hangUp();
  if (pieces.length === 0) {
    if (stop.aborted) return null;
    throw new Error(ended ?? 'The model said nothing: the call under Calls tells more.');
  }
  const sample = { sound: decoded(pieces), callId: call.callId };
  // Stopped in the middle it is no whole sample.
  if (!stop.aborted) heard.set(keyOf(wanted), sample);
  return sample;
}

function decoded(pieces: readonly Uint8Array[]): Float32Array {
  const bytes = pieces.flatMap((piece) => [...piece]);
  return Float32Array.from(bytes, (byte) => MULAW[byte] ?? 0);
}

/** Plays what was kept. Resolves at its end, or when `stop` is asked for. */
export async function playSample(sample: VoiceSample, stop: AbortSignal): Promise<void> {
  const context = new AudioContext();
  const buffer = context.createBuffer(1, sample.sound.length, LINE_RATE_HZ);
  buffer.copyToChannel(Float32Array.from(sample.sound), 0);
  const source = new AudioBufferSourceNode(context, { buffer });
  source.connect(context.destination);
  await new Promise<void>((done) => {
    source.onended = () => done();
    stop.addEventListener('abort', () => done());
    source.start();
  });
  await context.close();
}

/** What a hearing cost, in milli-cents, once the call's record says so; null where it does not within some seconds. */
export async function costOf(callId: string): Promise<number | null> {
  for (let looks = 0; looks < COST_LOOKS; looks++) {
    const call: Call | null = await api.calls.get(callId).catch(() => null);
    if (call !== null && call.cost !== null) return call.cost.total_milli_cents;
    await new Promise((later) => setTimeout(later, COST_LOOK_MS));
  }
  return null;
}
