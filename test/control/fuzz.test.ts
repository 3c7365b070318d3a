// The short form of the campaign against every operation; in full: node test/control/fuzz.ts
import t from 'tap';
import { campaign } from './fuzz.ts';

t.test('no body makes a fault, and a refusal changes nothing', async (t) => {
  await campaign(t, { bodies: 60, seed: 20_260_301 });
});
