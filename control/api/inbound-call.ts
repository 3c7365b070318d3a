// The record of a call that came in: what its agent brings, and who called.
import type { Carrier } from '../../bridge/carriers/carrier.ts';
import type { AgentView, CallRecord } from '../../storage/records.ts';
import { callRecord, choiceOf, type Speaks } from './call-record.ts';

/** A ringing call for an inbound agent. */
export function inboundCall(o: {
  agent: AgentView;
  /** Name of the speech model that leads it. */
  model: string;
  to: string;
  from: string;
  carrier: Pick<Carrier, 'name' | 'capabilities'>;
  carrierCallId: string;
  now: Date;
  reserve: number;
  speaks: Speaks;
}): CallRecord {
  const { agent } = o;
  return callRecord(
    {
      direction: 'inbound',
      ...choiceOf(agent, o.model),
      to_number: o.to,
      from_number: o.from,
      context: null,
      metadata: {},
      carrier_call_id: o.carrierCallId,
    },
    { orgId: agent.org_id, carrier: o.carrier, now: o.now, reserve: o.reserve, speaks: o.speaks },
  );
}
