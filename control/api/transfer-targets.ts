// The numbers that an agent may hand a call over to, held against the rules of outbound calls.
import { AppError } from '../../errors.ts';
import type { Tool } from '../../storage/records.ts';
import type { Store } from '../../storage/store.ts';

/**
 * Ranges and countries alone: whoever is on the line asked to speak with somebody. Countries are asked where the organization
 * has a number, since they are those of its numbers.
 * @throws AppError destination_closed, destination_not_allowed
 */
export async function checkTransferTargets(
  store: Pick<Store, 'decideOutbound' | 'getOutboundRules'>,
  orgId: string,
  tools: readonly Tool[] | null,
): Promise<void> {
  for (const [at, tool] of (tools ?? []).entries()) {
    if (tool.type !== 'transfer_call') continue;
    const { number_countries } = await store.getOutboundRules(orgId);
    for (const [place, { number }] of tool.targets.entries()) {
      const { refusals } = await store.decideOutbound(orgId, { to: number, only: 'destination' });
      const refusal = refusals.find(
        ({ code }) => code !== 'destination_not_allowed' || number_countries.length > 0,
      );
      if (refusal === undefined) continue;
      const param = `tools[${at}].targets[${place}].number`;
      throw new AppError(refusal.code, `${param}: ${refusal.reason}`, { param, evidence: refusal.evidence });
    }
  }
}
