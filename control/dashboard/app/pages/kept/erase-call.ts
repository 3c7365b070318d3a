// On the page of a call: that it is held, and erasing it, with the receipt. Of one that was erased, what is left.
import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import type { Call, Erasure, LegalHold } from '../../../../sdk/index.ts';
import { api } from '../../api.ts';
import { isOver, outcomeOf } from '../../call-words.ts';
import { Button } from '../../ui/button.ts';
import { confirm } from '../../ui/dialog.ts';
import { Note } from '../../ui/feedback.ts';
import { useLoad } from '../../ui/load.ts';
import { Facts, Page, Section } from '../../ui/page.ts';
import { Duration, Money, Time } from '../../ui/values.ts';
import { ReceiptDialog } from './receipt.ts';

export function KeptSection(props: { call: Call }) {
  const { call } = props;
  const over = isOver(call) && call.result_status !== 'pending';
  const holds = useLoad(
    async (signal): Promise<LegalHold[]> =>
      over ? (await api.legalHolds.list({ call_id: call.id }, { signal })).data : [],
    [call.id, over],
  );
  const [receipt, setReceipt] = useState<Erasure | null>(null);
  if (!over) return null;
  const held = holds.data ?? [];
  const erase = () => {
    let erasure: Erasure | null = null;
    void confirm({
      title: 'Erase this call?',
      text: html`<p>Its recording, words, numbers, result and all else that tells of anybody go, for good. Times, length and money stay.</p>
        <p>Backups keep it: the receipt names those that are known.</p>`,
      action: 'Erase',
      danger: true,
      run: async () => {
        erasure = await api.erasures.create({ call_id: call.id });
      },
    }).then((yes) => {
      if (yes) setReceipt(erasure);
    });
  };
  return html`<${Section} title="What is kept">
    ${held.map((hold) => html`<${Note} key=${hold.id} title="Under a legal hold"><p>${hold.reason}, since <${Time} iso=${hold.created_at} />. It can be erased when the hold is lifted.</p><//>`)}
    <p class="dim small">How long what is kept is set in <a href="/settings/kept">Settings</a>.</p>
    <div><${Button} kind="danger" small disabled=${held.length > 0} onClick=${erase}>Erase this call<//></div>
    ${receipt === null ? null : html`<${ReceiptDialog} erasure=${receipt} onClose=${() => location.reload()} />`}
  <//>`;
}

/** The page of a call that was erased: nothing of what the others show is there, and it is not said that there was none. */
export function ErasedCall(props: { call: Call; back: { href: string; label: string } }) {
  const { call, back } = props;
  return html`<${Page} title="An erased call" back=${back}>
    <${Note} title="This call was erased.">
      <p><${Time} iso=${call.erased_at} as="exact" />: by hand, or because it was older than calls are kept. What is left counts, and names nobody.</p>
    <//>
    <${Section} title="What is left">
      <${Facts}
        rows=${[
          ['Placed', html`<${Time} iso=${call.created_at} as="exact" />`],
          ['Direction', call.direction],
          ['Outcome', outcomeOf(call).words],
          [
            'Duration',
            html`<${Duration} ms=${call.duration_seconds === null ? null : call.duration_seconds * 1000} />`,
          ],
          ['Charged', html`<${Money} milliCents=${call.billing_amount_milli_cents} />`],
          ['Estimated cost', html`<${Money} milliCents=${call.cost?.total_milli_cents ?? null} />`],
          ['Id', html`<code>${call.id}</code>`],
        ]}
      />
      <p><a href="/settings/kept">Receipts of erasures</a></p>
    <//>
  <//>`;
}
