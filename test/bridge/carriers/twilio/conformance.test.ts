// Twilio's carrier is what every carrier is, with the simulated one behind it.
import t from 'tap';
import { carrierConformance } from '../conformance.ts';
import { openSimulated } from './simulated.ts';

carrierConformance(t, (t, { losesDialAnswer = false } = {}) =>
  openSimulated(
    t,
    losesDialAnswer ? { faults: [{ do: 'lose_response', method: 'POST', path: '/Calls.json' }] } : {},
  ),
);
