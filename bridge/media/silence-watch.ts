// PURE. For how long nothing was heard: of the agent, neither received nor confirmed as played; of the caller, neither his voice
// nor a key nor a word typed. Milliseconds of the call throughout.

export class SilenceWatch {
  /** When the last mark came back: until then at least the agent was heard. */
  #heardMs = 0;
  /** When the model's last sound came. */
  #receivedMs = 0;
  #callerMs = 0;
  /** Since when our own ear has heard no voice; null while it does. */
  #quietSinceMs: number | null = 0;

  /** Something of the agent's was heard, or could be from now on. */
  agentHeard(now: number): void {
    this.#heardMs = now;
  }

  agentReceived(now: number): void {
    this.#receivedMs = now;
  }

  /** The caller told something without a voice. */
  callerTold(now: number): void {
    this.#callerMs = now;
  }

  callerVoice(quiet: boolean, now: number): void {
    this.#quietSinceMs = quiet ? now : null;
  }

  /** Once a tick, before it is asked. */
  tick(now: number): void {
    if (this.#quietSinceMs === null) this.#callerMs = now;
  }

  get agentHeardMs(): number {
    return this.#heardMs;
  }

  get quietSinceMs(): number | null {
    return this.#quietSinceMs;
  }

  /** How long nothing of the agent's was received or heard. */
  stillMs(now: number): number {
    return now - Math.max(this.#heardMs, this.#receivedMs);
  }

  /** How long neither side was heard. */
  quietMs(now: number): number {
    return now - Math.max(this.#heardMs, this.#callerMs);
  }
}
