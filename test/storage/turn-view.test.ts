// A turn as the API shows it, and what its wait was made of.
import t from 'tap';
import { turnView } from '../../storage/turn-view.ts';
import { makeTurn } from './makers.ts';

const none = {
  speech_end_ms: null,
  requested_ms: null,
  first_model_audio_ms: null,
  first_sent_ms: null,
  first_heard_ms: null,
};

for (const [name, fields, latency, parts] of [
  ['an answer to speech: from its end', {}, 980.8, [520.5, 0.5, 380.9, 0.5, 78.4]],
  ['an answer to keys: from the decision', { speech_end_ms: null }, 460.3, [null, 0.5, 380.9, 0.5, 78.4]],
  [
    'the greeting: from the start of the audio, its decision included',
    {
      kind: 'greeting',
      speech_end_ms: null,
      decided_ms: 12,
      requested_ms: 40.1,
      first_model_audio_ms: 300.2,
      first_sent_ms: 300.2,
      first_heard_ms: 380,
    },
    380,
    [null, 40.1, 260.1, 0, 79.8],
  ],
  [
    'a prompt',
    {
      kind: 'prompt',
      speech_end_ms: null,
      decided_ms: 100,
      requested_ms: 100,
      first_model_audio_ms: 200,
      first_sent_ms: 201,
      first_heard_ms: 230,
    },
    130,
    [null, 0, 100, 1, 29],
  ],
  [
    'begun early, its first sound there before the turn was over: none of the wait is the model’s',
    { requested_ms: 4_900, first_model_audio_ms: 5_100.5, first_sent_ms: 5_181, first_heard_ms: 5_250 },
    590,
    [520.5, 0, 0, 0.5, 69],
  ],
  [
    'begun early, its first sound after it: what was left of the wait is',
    { requested_ms: 4_900, first_model_audio_ms: 5_400.5, first_sent_ms: 5_401, first_heard_ms: 5_450 },
    790,
    [520.5, 0, 220, 0.5, 49],
  ],
  ['never asked', { ...none, decided_ms: 7 }, null, [null, null, null, null, null]],
  ['sent and never heard', { first_heard_ms: null, barged_in: true }, null, [520.5, 0.5, 380.9, 0.5, null]],
] as const) {
  t.test(name, async (t) => {
    const view = turnView(makeTurn('c', { ...fields, turn_index: 4 }));
    t.equal(view.latency_ms, latency);
    t.same(Object.values(view.parts), parts);
    t.equal(view.index, 4);
    t.notOk('call_id' in view || 'turn_index' in view);
    if (latency === null) return;
    const sum = Object.values(view.parts).reduce<number>((total, ms) => total + (ms ?? 0), 0);
    t.ok(Math.abs(sum - latency) < 0.05, `${sum} adds up to ${latency}`);
  });
}
