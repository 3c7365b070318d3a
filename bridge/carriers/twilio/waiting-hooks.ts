// Hooks that Twilio waits on for its next document, by their call: a command that is given meanwhile becomes their answer.

export class WaitingHooks {
  readonly #waiting = new Map<string, Set<{ twiml: string | null }>>();

  /** Does the work while a hook of the call waits. @returns the document that was given meanwhile, null for none */
  async during(carrierCallId: string, work: () => Promise<void>): Promise<string | null> {
    const hook: { twiml: string | null } = { twiml: null };
    const others = this.#waiting.get(carrierCallId) ?? new Set();
    this.#waiting.set(carrierCallId, others.add(hook));
    try {
      await work();
      return hook.twiml;
    } finally {
      others.delete(hook);
      if (others.size === 0) this.#waiting.delete(carrierCallId);
    }
  }

  /** Gives the call's hooks their document; the last one given holds. False when none waits. */
  answer(carrierCallId: string, twiml: string): boolean {
    const hooks = this.#waiting.get(carrierCallId);
    for (const hook of hooks ?? []) hook.twiml = twiml;
    return hooks !== undefined;
  }
}
