// Errors as servers were seen to send them, and what they mean.
import t from 'tap';
import { isFatal, isPassing, judgeError, retryAfterMs } from '../../../../bridge/models/openai/errors.ts';

t.test('errors by their code', async (t) => {
  const cases: [string, string, string][] = [
    ['invalid_api_key', '', 'fatal'],
    ['insufficient_quota', '', 'fatal'],
    ['account_deactivated', '', 'fatal'],
    ['billing_hard_limit_reached', '', 'fatal'],
    ['session_expired', 'Your session hit the maximum duration of 60 minutes.', 'expired'],
    ['response_cancel_not_active', 'Cancellation failed: no active response found', 'cancel-refused'],
    [
      'conversation_already_has_active_response',
      'Conversation already has an active response in progress: resp_1.',
      'already-active',
    ],
    ['unknown', 'Conversation already has an active response in progress: resp_1.', 'already-active'],
    [
      'input_audio_buffer_commit_empty',
      'Error committing input audio buffer: buffer too small.',
      'commit-empty',
    ],
    ['item_truncate_invalid_item_id', '', 'nothing'],
    ['item_delete_invalid_item_id', '', 'nothing'],
    ['invalid_value', 'Audio content of 3700ms is already shorter than 3760ms', 'truncate-too-long'],
    ['rate_limit_exceeded', '', 'passing'],
    ['server_error', '', 'passing'],
    ['unknown_parameter', '', 'unexpected'],
    ['cannot_update_voice', '', 'unexpected'],
  ];
  for (const [code, message, means] of cases)
    t.equal(judgeError({ code, message, param: null }).means, means, `${code} ${message}`);
  t.same(
    judgeError({
      code: 'invalid_value',
      message: 'Audio content of 3700ms is already shorter than 3760ms',
      param: 'audio_end_ms',
    }),
    {
      means: 'truncate-too-long',
      availableMs: 3700,
    },
  );
});

t.test('how long to wait', async (t) => {
  t.equal(retryAfterMs('Please try again in 1.2s. Visit …', 0), 1200);
  t.equal(retryAfterMs('Please try again in 350ms.', 2), 350);
  t.equal(retryAfterMs('Please try again in 0.001s.', 2), 100, 'never at once');
  t.equal(retryAfterMs('Please try again in 6000s.', 0), 8000, 'never longer than a caller waits');
  t.same(
    [0, 1, 2].map((attempt) => retryAfterMs(null, attempt)),
    [500, 1000, 2000],
  );
});

t.test('codes of failed responses', async (t) => {
  t.ok(isPassing('inference_rate_limit_exceeded'));
  t.notOk(isPassing(null));
  t.notOk(isPassing('content_filter'));
  t.ok(isFatal('insufficient_quota'));
  t.notOk(isFatal(null));
});
