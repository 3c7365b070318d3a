// Rows of deliveries <-> their records. When a pending one is due, and until when it is held, is stored by the steady clock.
import type { Lease } from '../delivery-state.ts';
import { dueOf } from '../due-delivery.ts';
import type { DeliveryRecord } from '../records.ts';
import type { DueDelivery } from '../store.ts';
import type { Connection } from './connection.ts';
import { DELIVERIES, type Row } from './rows.ts';

type Clocks = Pick<Connection, 'steady' | 'wall'>;

export function deliveryOf({ wall }: Clocks, row: Row): DeliveryRecord {
  const delivery = DELIVERIES.fromRow(row);
  if (delivery.status !== 'pending') return delivery;
  return { ...delivery, next_attempt_at: wall(delivery.next_attempt_at) };
}

export function deliveryRow({ steady }: Clocks, delivery: DeliveryRecord): Row {
  const row = DELIVERIES.toRow(delivery);
  return delivery.status === 'pending' ? { ...row, next_attempt_at: steady(delivery.next_attempt_at) } : row;
}

export function leaseOf({ wall }: Clocks, { lease_until, lease_owner }: Row): Lease {
  return lease_until == null ? null : { until: wall(String(lease_until)), owner: Number(lease_owner) };
}

/** Of a row of a pending delivery with the columns that it takes. */
export function dueOfRow({ wall }: Clocks, row: Row): DueDelivery {
  const delivery = row as unknown as Parameters<typeof dueOf>[0];
  return dueOf({ ...delivery, next_attempt_at: wall(delivery.next_attempt_at) });
}
