// What went wrong, told to a person, and which field is to blame.
import t from 'tap';
import { adviceFor, fieldError, toFailure } from '../../../../control/dashboard/app/failure.ts';
import { OffhookConnectionError, OffhookError } from '../../../../control/sdk/errors.ts';
import { ERROR_STATUS } from '../../../../errors.ts';

const refused = (code: string, param: string | null, status = 400) =>
  new OffhookError('must be https', { status, code, param, requestId: 'req_1' });

t.test('whatever was thrown becomes a failure', async (t) => {
  t.match(toFailure(refused('invalid_url', 'webhook_url')), {
    status: 400,
    code: 'invalid_url',
    message: 'must be https',
    param: 'webhook_url',
    requestId: 'req_1',
  });
  t.equal(toFailure(refused('conflict', null, 409)).param, undefined);
  const lost = toFailure(new OffhookConnectionError('x', { code: 'connection_failed' }));
  t.equal(lost.status, 0);
  t.match(lost.message, /could not be reached/);
  t.match(adviceFor(lost), /daemon runs/);
  t.match(toFailure(new Error('broken')), { code: 'error', message: 'broken' });
  t.match(toFailure('text'), { code: 'error' });
});

t.test('a field is told of its own faults and those of its parts', async (t) => {
  t.equal(fieldError(refused('invalid_url', 'webhook_url'), 'webhook_url'), 'must be https');
  t.equal(fieldError(refused('invalid_tool', 'tools[0].url'), 'tools'), '[0].url: must be https');
  t.equal(fieldError(refused('invalid_returns', 'returns.name'), 'returns'), 'name: must be https');
  t.equal(fieldError(refused('invalid_url', 'webhook_url'), 'webhook'), null);
  t.equal(fieldError(refused('invalid_url', null), 'webhook_url'), null);
  t.equal(fieldError(null, 'webhook_url'), null);
});

t.test('every fault of the service says what to do', async (t) => {
  for (const [code, status] of Object.entries(ERROR_STATUS)) {
    if (status < 500) continue;
    t.not(adviceFor(toFailure(refused(code, null, status))), '', code);
  }
});
