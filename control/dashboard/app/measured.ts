// What a measured latency may be called, by whom the daemon speaks to. PURE.
import type { Overview } from './session-shapes.ts';

/**
 * `simulated`: all phone lines are on this machine, so that no telephone was in it. `against`: who stood in for the vendors,
 * in words; null where nobody did.
 */
export function measured({ carriers, models }: Overview['measured_against']): {
  simulated: boolean;
  against: string | null;
} {
  const own = [
    ...carriers.map((peer) => ({ name: 'carrier', ...peer })),
    ...models.map((peer) => ({ name: 'model', ...peer })),
  ].filter(({ place }) => place !== 'vendor');
  const here = new Set(own.filter(({ place }) => place === 'this_machine').map(({ name }) => name));
  const parts = new Set([
    ...(here.size === 0 ? [] : [`${[...here].join(' and ')} on this machine`]),
    ...own.filter(({ place }) => place === 'elsewhere').map(({ name, host }) => `${name} ${host}`),
  ]);
  return {
    simulated: carriers.length > 0 && carriers.every(({ place }) => place === 'this_machine'),
    against: parts.size === 0 ? null : [...parts].join(', '),
  };
}
