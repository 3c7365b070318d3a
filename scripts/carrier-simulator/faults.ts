// PURE. The list of things that shall go wrong; each counts down as it strikes.
import type { Fault, StreamStage } from './options.ts';

export interface Strike {
  method?: string;
  path?: string;
  callSid?: string;
  number?: string;
  /** Where a stream has come to; a fault without a stage strikes where none is given. */
  stage?: StreamStage;
  count?: number;
}

export class Faults {
  #faults: { fault: Fault; left: number }[] = [];

  add(fault: Fault): void {
    this.#faults.push({ fault, left: fault.times === 0 ? Number.POSITIVE_INFINITY : fault.times });
  }

  clear(): void {
    this.#faults = [];
  }

  list(): Fault[] {
    return this.#faults.map(({ fault }) => fault);
  }

  /** Takes the first fault of this kind that fits, or null. */
  take(kind: Fault['do'], at: Strike): Fault | null {
    const entry = this.#faults.find(
      ({ fault }) =>
        fault.do === kind &&
        (fault.method === undefined || fault.method.toUpperCase() === at.method?.toUpperCase()) &&
        (fault.path === undefined || (at.path ?? '').includes(fault.path)) &&
        (fault.callSid === undefined || fault.callSid === at.callSid) &&
        (fault.number === undefined || fault.number === at.number) &&
        fault.at?.stage === at.stage &&
        (fault.at === undefined || fault.at.count === at.count),
    );
    if (!entry) return null;
    entry.left -= 1;
    if (entry.left <= 0) this.#faults = this.#faults.filter((other) => other !== entry);
    return entry.fault;
  }
}
