// PURE. The carrier's REST errors: code, HTTP status, words. https://www.twilio.com/docs/api/errors

const STATUS: Record<number, number> = {
  20003: 401,
  20404: 404,
  20429: 429,
  20500: 500,
  20503: 503,
  20004: 405,
};

export class RestError extends Error {
  readonly code: number;
  readonly status: number;

  constructor(code: number, message: string, status = STATUS[code] ?? 400) {
    super(message);
    this.name = 'RestError';
    this.code = code;
    this.status = status;
  }

  body(): { code: number; message: string; more_info: string; status: number } {
    const { code, message, status } = this;
    return { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status };
  }
}

export function notFound(path: string): RestError {
  return new RestError(20404, `The requested resource ${path} was not found`);
}
