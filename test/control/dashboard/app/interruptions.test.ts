// What the page of a call says of those who spoke into the agent's voice.
import t from 'tap';
import { interruptedWords } from '../../../../control/dashboard/app/interruptions.ts';
import type { Interruption } from '../../../../control/sdk/index.ts';

const one = (fields: Partial<Interruption>): Interruption => ({
  id: 'one',
  at_ms: 3_000,
  onset_ms: 2_000,
  held_ms: 2_100,
  paused_ms: null,
  silenced_ms: null,
  taken_back: true,
  ...fields,
});
const cut = one({ taken_back: false, paused_ms: 2_400 });

t.test('how often, and what the others did to the voice', async (t) => {
  const table: [string, Interruption[], string][] = [
    ['nobody', [], ''],
    ['once', [cut], 'Interrupted once.'],
    [
      'one let pass',
      [one({})],
      "Never interrupted; 1 sound let pass, the agent's voice lowered for 900 ms in all.",
    ],
    [
      'one of two paused it',
      [cut, one({ paused_ms: 2_500 }), one({})],
      "Interrupted once; 2 sounds let pass, the agent's voice lowered for 1.30 s in all and paused once, for 500 ms.",
    ],
    [
      'paused as the answer began',
      [cut, cut, one({ held_ms: 2_500, paused_ms: 2_500 }), one({ paused_ms: 2_500 })],
      "Interrupted 2 times; 2 sounds let pass, the agent's voice lowered for 400 ms in all and paused 2 times, for 1.00 s.",
    ],
    ['not known since when', [one({ held_ms: null })], 'Never interrupted; 1 sound let pass.'],
  ];
  for (const [name, interruptions, words] of table) t.equal(interruptedWords(interruptions), words, name);
});
