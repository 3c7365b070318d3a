// A carrier for tests of those who use one: it can do what the test says, and anything else is a mistake of the test.
import type { Carrier, Line, Numbers } from '../../../bridge/carriers/carrier.ts';

const unused = (): never => {
  throw new Error('not part of this test');
};

const LINE: Line = {
  place: unused,
  connect: unused,
  reject: unused,
  hangUp: unused,
  transfer: unused,
  sendKeys: unused,
  sayAndHangUp: unused,
  lookUp: unused,
  find: unused,
};
const NUMBERS: Numbers = { search: unused, adopt: unused, buy: unused, release: unused };

/** A telephone carrier, unless it is told to be another. */
export function standInCarrier(
  o: Partial<Omit<Carrier, 'line' | 'numbers'>> & {
    line?: Partial<Line>;
    numbers?: Partial<Numbers> | null;
  } = {},
): Carrier {
  return {
    name: 'simulated',
    capabilities: { telephone: true, detectsMachines: true, streamIsCall: false, answerSeconds: null },
    hooks: null,
    mediaSecret: '',
    check: async () => {},
    open: async () => {},
    close: async () => {},
    ...o,
    line: { ...LINE, ...o.line },
    numbers: o.numbers == null ? null : { ...NUMBERS, ...o.numbers },
  };
}
