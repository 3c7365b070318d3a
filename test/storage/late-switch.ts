// Makes every store late that is opened afterwards: loaded before a program, whose LATE_STORE says how late, or asked for by
// a test before it loads what opens stores.
import { registerHooks } from 'node:module';

const STORE = new URL('../../storage/sqlite/store.ts', import.meta.url).href;
const LATE = new URL('./late-open.ts', import.meta.url).href;

/** `lateness` as late-store.ts reads it; what the environment says comes first. */
export function beLate(lateness: string): void {
  process.env.LATE_STORE ??= lateness;
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === STORE && context.parentURL !== LATE ? { ...found, url: LATE } : found;
    },
  });
}

if (process.env.LATE_STORE !== undefined) beLate(process.env.LATE_STORE);
