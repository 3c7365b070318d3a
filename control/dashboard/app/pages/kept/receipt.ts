// The receipt of an erasure, shown once it was asked for and from the list of erasures.
import { html } from 'htm/preact';
import type { Erasure } from '../../../../sdk/index.ts';
import { bytes } from '../../format.ts';
import { Button } from '../../ui/button.ts';
import { Dialog } from '../../ui/dialog.ts';
import { Note } from '../../ui/feedback.ts';
import { Facts } from '../../ui/page.ts';
import { Time } from '../../ui/values.ts';
import { countsInWords } from './days.ts';

const SUBJECT = {
  call: 'A call',
  number: 'All calls with a number',
  organization: 'The organization',
} as const;

export const subjectText = (erasure: Pick<Erasure, 'subject'>) => SUBJECT[erasure.subject];

export function ReceiptDialog(props: { erasure: Erasure; onClose: () => void }) {
  const { erasure } = props;
  const counted = countsInWords(erasure.counts);
  return html`<${Dialog}
    title=${erasure.state === 'done' ? 'Erased' : 'Being erased'}
    wide
    onClose=${props.onClose}
    actions=${html`<${Button} kind="primary" onClick=${props.onClose}>Close<//>`}
  >
    <div class="stack">
      ${erasure.state === 'done' ? null : html`<${Note}><p>It goes on by itself, also after a restart. The list of erasures has the receipt when it is done.</p><//>`}
      <${Facts}
        rows=${[
          ['What', subjectText(erasure)],
          ['Erased', counted.length === 0 ? 'Nothing: there was nothing left of it' : counted.join(', ')],
          [
            'Asked for by',
            html`${erasure.requested_by.name}, <${Time} iso=${erasure.created_at} as="exact" />`,
          ],
          erasure.reason === null ? null : ['Why', erasure.reason],
          [
            'Done',
            erasure.done_at === null ? 'Not yet' : html`<${Time} iso=${erasure.done_at} as="exact" />`,
          ],
          [
            'File written anew',
            erasure.rewritten_at === null
              ? 'Not yet: it waits for a moment without calls'
              : html`<${Time} iso=${erasure.rewritten_at} as="exact" />`,
          ],
          ['Receipt', html`<code>${erasure.id}</code>`],
        ]}
      />
      ${
        erasure.files.length === 0
          ? null
          : html`<details>
              <summary>${erasure.files.length === 1 ? 'The file that was deleted' : `The ${erasure.files.length} files that were deleted`}</summary>
              <ul class="plain-list small">
                ${erasure.files.map((file) => html`<li key=${file.path}><div><code class=\"line-text\">${file.path}</code>, ${bytes(file.bytes)}<br /><span class=\"dim\">SHA-256 <code class=\"line-text\">${file.sha256}</code></span></div></li>`)}
              </ul>
            </details>`
      }
      ${
        erasure.backups.length === 0
          ? null
          : html`<${Note} kind="warn" title="Copies that still hold it">
              <ul class="plain-list">
                ${erasure.backups.map((copy) => html`<li key=${copy.path}><div><code>${copy.path}</code>, <${Time} iso=${copy.made_at} as="exact" /></div></li>`)}
              </ul>
              <p>Delete them, or let them grow old. After a restore, erase again.</p>
            <//>`
      }
    </div>
  <//>`;
}
