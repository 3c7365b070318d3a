// The credit that is held for a call: asked for while it talks, minute after minute. When that is, call-look.ts says.
import type { CallContext } from './call-context.ts';
import type { Lane } from './lane.ts';
import type { Ask, Input } from './live-state.ts';

/** Has more credit held, in the call's lane. `replaced`: the call is another daemon's. */
export async function topUp(
  { store, log }: Pick<CallContext, 'store' | 'log'>,
  lane: Lane,
  callId: string,
  { minutes, amountMilliCents }: Ask<'top-up'>,
): Promise<Input<'top-up-answered' | 'replaced'>> {
  let answer: Input<'top-up-answered'>['answer'] = 'failed';
  try {
    const ledger = [{ kind: 'top_up' as const, amountMilliCents }];
    const saved = await lane.run(() => store.saveCall(callId, { from: ['in_progress'], change: {}, ledger }));
    if (!('conflict' in saved)) answer = 'taken';
    else if (saved.conflict === 'insufficient_credit') answer = 'no_credit';
    // Any other means that the call has ended meanwhile.
    else if (saved.conflict === 'not_owner') return { type: 'replaced' };
  } catch (error) {
    log.error({ call_id: callId, err: error }, 'call.credit_not_asked');
  }
  return { type: 'top-up-answered', minutes, answer };
}
