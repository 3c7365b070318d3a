// What went wrong, told so that a person can act on it; and which field of a form is to blame. PURE.

/** What errors of the SDK and of the session API have in common. */
export interface Failure {
  status: number;
  code: string;
  message: string;
  param: string | undefined;
  requestId: string | undefined;
}

/** Whatever was thrown, as a failure. Status 0: nothing was answered. */
export function toFailure(thrown: unknown): Failure {
  const one = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  if (typeof one.status === 'number' && one.status > 0) {
    return {
      status: one.status,
      code: text(one.code) ?? 'error',
      message: text(one.message) ?? `The service answered ${one.status}.`,
      param: text(one.param),
      requestId: text(one.requestId),
    };
  }
  const nothingCame = one.status === 0;
  return {
    status: 0,
    code: nothingCame ? 'unreachable' : 'error',
    message: nothingCame
      ? 'The daemon could not be reached.'
      : (text(one.message) ?? 'Something went wrong on this page.'),
    param: undefined,
    requestId: undefined,
  };
}

const ADVICE: Record<string, string> = {
  unknown_parameter: 'This page and the daemon are of different versions: load the page again.',
  connection_failed: 'Check that the daemon runs and that this machine reaches it, then try again.',
  timeout: 'The daemon is slow or the line to it is: try again in a moment.',
  unreachable: 'Check that the daemon runs and that this machine reaches it, then try again.',
  unauthorized: 'Sign in again.',
  forbidden: 'Load the page again: the session may have been renewed in another tab.',
  not_found: 'It may have been deleted. Go back to the list and look for it there.',
  conflict: 'Load the page again to see how things stand now.',
  changed_meanwhile: 'Look at what was changed, then save again.',
  insufficient_credit: 'Add credit, or remove the limit of the balance.',
  rate_limited: 'Wait a moment, then try again.',
  carrier_error: 'Look at the carrier on the overview; the message has its own reason.',
  at_capacity: 'Wait until a live call ends, or raise the limit of calls in the configuration.',
  draining: 'The daemon is restarting: try again in a minute.',
  storage_low: 'Make room on the disk of the daemon.',
  internal: 'Try again. If it stays, look for the request id in the log of the daemon.',
};

/** What to do about it. */
export function adviceFor(failure: Failure): string {
  if (failure.param !== undefined && failure.code !== 'unknown_parameter') {
    return 'Correct the marked field, then try again.';
  }
  const known = ADVICE[failure.code];
  if (known !== undefined) return known;
  if (failure.status >= 500) return ADVICE.internal ?? '';
  return failure.status >= 400 ? '' : 'Load the page again.';
}

/** What is wrong with this field: the message, when the failure blames it or a part of it (`tools[0].url` of `tools`). */
export function fieldError(thrown: unknown, field: string): string | null {
  if (thrown === null || thrown === undefined) return null;
  const { param, message } = toFailure(thrown);
  if (param === undefined) return null;
  const isPart = param.startsWith(field) && /^[.[]/.test(param.slice(field.length));
  if (param !== field && !isPart) return null;
  return isPart ? `${param.slice(field.length).replace(/^\./, '')}: ${message}` : message;
}
