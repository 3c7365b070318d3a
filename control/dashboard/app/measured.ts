// What a measured latency may be called, by whom the daemon speaks to. PURE.
import type { Overview } from './session-shapes.ts';

/**
 * `simulated`: the phone line is on this machine, so that no telephone was in it. `against`: who stood in for the vendors,
 * in words; null where nobody did.
 */
export function measured({ carrier, model }: Overview['measured_against']): {
  simulated: boolean;
  against: string | null;
} {
  const own = [['carrier', carrier] as const, ['model', model] as const].filter(
    ([, { place }]) => place !== 'vendor',
  );
  const here = own.filter(([, { place }]) => place === 'this_machine').map(([name]) => name);
  const parts = [
    ...(here.length === 0 ? [] : [`${here.join(' and ')} on this machine`]),
    ...own.filter(([, { place }]) => place === 'elsewhere').map(([name, { host }]) => `${name} ${host}`),
  ];
  return {
    simulated: carrier.place === 'this_machine',
    against: parts.length === 0 ? null : parts.join(', '),
  };
}
