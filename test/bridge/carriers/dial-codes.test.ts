// Countries by dial code; the expected ones are well-known numbers of each.
import t from 'tap';
import { countryOf } from '../../../bridge/carriers/dial-codes.ts';

t.test('the country of a number', async (t) => {
  const cases: Record<string, string> = {
    '+14155550100': 'US',
    '+18005550100': 'US',
    '+14165550100': 'CA',
    '+16045550100': 'CA',
    '+18095550100': 'DO',
    '+18765550100': 'JM',
    '+442079460000': 'GB',
    '+4930123456': 'DE',
    '+33142685300': 'FR',
    '+353861234567': 'IE',
    '+61255501234': 'AU',
    '+817012345678': 'JP',
    '+77001234567': 'KZ',
    '+74951234567': 'RU',
    '+972541234567': 'IL',
    '+5511912345678': 'BR',
    '+99912345678': 'ZZ',
  };
  for (const [e164, country] of Object.entries(cases)) t.equal(countryOf(e164), country, e164);
});
