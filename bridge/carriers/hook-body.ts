// The bytes of a hook as they came, for whoever must hand the whole request on: a signature is over all of it.
import type { IncomingMessage } from 'node:http';

const bodies = new WeakMap<IncomingMessage, Buffer>();

export function keepHookBody(request: IncomingMessage, body: Buffer): void {
  bodies.set(request, body);
}

/** Null: nothing of it was read, or nobody has kept it. */
export function hookBody(request: IncomingMessage): Buffer | null {
  return bodies.get(request) ?? null;
}
