// What is done for one call, one thing after the other. What nobody waits for may be stored patiently, and holds up nobody who
// comes behind it.
import type { Patience } from '../../storage/answers.ts';
import type { Store } from '../../storage/store.ts';

export class Lane {
  readonly #store: Pick<Store, 'flush'>;
  #last: Promise<unknown> = Promise.resolve();
  /** Works for which somebody waits, and that have not begun. */
  #waitedFor = 0;
  /** Patient works that are not done. */
  #patient = 0;
  /** What is under way is being stored patiently. */
  #lingers = false;
  /** What is under way has waited behind a patient work, and waits no more. */
  #hasWaited = false;

  constructor(store: Pick<Store, 'flush'>) {
    this.#store = store;
  }

  /** Changes with each work that comes; resolves, whatever becomes of the last one. */
  get last(): Promise<unknown> {
    return this.#last;
  }

  /** Does it when all before it is done; resolves and rejects as it does. `patient`: nobody waits for it. */
  run<T>(work: () => Promise<T>, { patient = false }: Patience = {}): Promise<T> {
    const waits = this.#patient > 0;
    if (patient) this.#patient++;
    else this.#waitedFor++;
    if (!patient && this.#lingers) void this.#store.flush();
    const begin = () => {
      if (!patient) this.#waitedFor--;
      this.#hasWaited = waits;
      return work();
    };
    const done = () => {
      if (patient) this.#patient--;
    };
    const after = this.#last.then(begin, begin);
    this.#last = after.then(done, done);
    return after;
  }

  /**
   * Within a work: has something stored; patiently where it may be, as long as nobody waits behind it, and where it has not
   * waited already: those that come together would each wait for the one before.
   */
  async store<T>(mayBePatient: boolean, write: (patience: Patience) => Promise<T>): Promise<T> {
    const patient = mayBePatient && this.#waitedFor === 0 && !this.#hasWaited;
    this.#lingers = patient;
    try {
      return await write({ patient });
    } finally {
      this.#lingers = false;
    }
  }
}
