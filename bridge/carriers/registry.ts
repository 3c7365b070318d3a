// The carriers that a daemon has, by name: whoever holds a call or a number finds its own here. Which they are is carriers.ts.
import { AppError } from '../../errors.ts';
import { type Carrier, type CarrierEvent, type Line, NOT_POSSIBLE, type Numbers } from './carrier.ts';

export interface Carriers {
  /** The first one is asked first for what any of them could do. */
  readonly all: readonly Carrier[];
  /** The carrier of a call or a number; one that is not set up (any more) refuses whatever it is asked. */
  named(name: string): Carrier;
  /** Whose calls have a page of ours as their other side. @throws AppError carrier_error where there is none */
  ofPages(): Carrier;
  /** The carrier of that name, or the first one, where it sells numbers; null where none does. */
  seller(name?: string): Seller | null;
  /** Has all of them tell what happens, each event with whose it is. */
  open(tell: (carrier: Carrier, event: CarrierEvent) => Promise<void>): Promise<void>;
  /** None tells anything more. Safe to call twice. */
  close(): Promise<void>;
}

/** A carrier that has numbers to sell. */
export interface Seller {
  name: string;
  numbers: Numbers;
}

/** Where a carrier's hooks are mounted. */
export function hooksPath(name: string): string {
  return `/carriers/${name}`;
}

/** @throws Error where two have one name */
export function createCarriers(all: readonly Carrier[]): Carriers {
  const byName = new Map(all.map((carrier) => [carrier.name, carrier]));
  if (byName.size !== all.length) throw new Error('Two carriers have one name.');
  return {
    all,
    named: (name) => byName.get(name) ?? absentCarrier(name),
    ofPages() {
      const carrier = all.find(({ capabilities }) => !capabilities.telephone);
      if (carrier !== undefined) return carrier;
      throw new AppError('carrier_error', 'No carrier of this daemon connects pages.', {
        carrierCode: NOT_POSSIBLE,
        retryable: false,
      });
    },
    seller(wanted) {
      for (const { name, numbers } of all) {
        if (numbers !== null && (wanted === undefined || name === wanted)) return { name, numbers };
      }
      return null;
    },
    async open(tell) {
      await Promise.all(all.map((carrier) => carrier.open((event) => tell(carrier, event))));
    },
    async close() {
      await Promise.all(all.map((carrier) => carrier.close()));
    },
  };
}

/** Of calls and numbers from before the settings changed. */
function absentCarrier(name: string): Carrier {
  const refuse = async (): Promise<never> => {
    const message = `The carrier ${name} is not set up on this daemon.`;
    throw new AppError('carrier_error', message, { carrierCode: NOT_POSSIBLE, retryable: false });
  };
  const line: Line = {
    place: refuse,
    connect: refuse,
    reject: refuse,
    hangUp: refuse,
    transfer: refuse,
    sendKeys: refuse,
    sayAndHangUp: refuse,
    lookUp: refuse,
    find: refuse,
  };
  return {
    name,
    capabilities: { telephone: true, detectsMachines: false, streamIsCall: false, answerSeconds: null },
    line,
    numbers: { search: refuse, adopt: refuse, buy: refuse, release: refuse },
    hooks: null,
    mediaSecret: '',
    check: null,
    open: refuse,
    close: async () => {},
  };
}
