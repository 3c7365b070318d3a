// One request to Twilio's REST API: form in, JSON out, bounded in time and size, vendor errors by vendor code.
// Which requests there are is line.ts and numbers.ts.
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { AppError } from '../../../errors.ts';
import { redact } from '../../../log.ts';
import { NO_ANSWER } from '../carrier.ts';

const UNKNOWN_OUTCOME = 'The carrier did not answer, so it is not known whether it has done what was asked.';
const NOTHING_CHANGED = 'The carrier did not answer. Nothing was changed there: ask again.';
const MAX_BODY_BYTES = 1024 * 1024;
/** Repeats of a request that may be made any number of times. */
const REPEATS = 2;

export type Form = Record<string, string | readonly string[]>;

export interface TwilioRest {
  /** @throws AppError carrier_error */
  get<T>(url: string, schema: z.ZodType<T>): Promise<T>;
  /**
   * `repeat`: making it twice does no harm, so that it is made again where that may help. `outcomeUnknown`: without an
   * answer nobody may simply ask again, so that the error is not retryable.
   */
  post<T = unknown>(
    url: string,
    form: Form,
    o?: { schema?: z.ZodType<T>; repeat?: boolean; outcomeUnknown?: boolean },
  ): Promise<T>;
  delete(url: string): Promise<void>;
}

export interface TwilioRestOptions {
  accountSid: string;
  authToken: string;
  timeoutMs: number;
  retryDelayMs: number;
}

export function createTwilioRest(o: TwilioRestOptions): TwilioRest {
  const authorization = `Basic ${Buffer.from(`${o.accountSid}:${o.authToken}`).toString('base64')}`;

  async function once(method: string, url: string, form: Form | null): Promise<unknown> {
    const body = form === null ? null : encodeForm(form);
    let status: number;
    let text: string;
    try {
      const response = await fetch(url, {
        method,
        headers: {
          authorization,
          accept: 'application/json',
          ...(body === null ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        },
        body,
        // A redirect would carry the credentials elsewhere.
        redirect: 'manual',
        signal: AbortSignal.timeout(o.timeoutMs),
      });
      status = response.status;
      text = await readText(response);
    } catch (cause) {
      throw new AppError('carrier_error', method === 'GET' ? NOTHING_CHANGED : UNKNOWN_OUTCOME, {
        cause,
        carrierCode: NO_ANSWER,
        retryable: true,
      });
    }
    if (status < 200 || status > 299) throw vendorError(status, text, o.authToken);
    if (text === '') return null;
    try {
      return JSON.parse(text);
    } catch (cause) {
      throw strangeAnswer(cause);
    }
  }

  async function request(method: string, url: string, form: Form | null, repeat: boolean): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      try {
        return await once(method, url, form);
      } catch (error) {
        const again = repeat && attempt < REPEATS && error instanceof AppError && error.retryable;
        if (!again) throw error;
      }
      await wait(o.retryDelayMs * 2 ** attempt * (0.5 + Math.random()));
    }
  }

  return {
    async get(url, schema) {
      return parse(schema, await request('GET', url, null, true));
    },
    async post<T>(
      url: string,
      form: Form,
      {
        schema,
        repeat = false,
        outcomeUnknown = false,
      }: { schema?: z.ZodType<T>; repeat?: boolean; outcomeUnknown?: boolean } = {},
    ): Promise<T> {
      try {
        const answer = await request('POST', url, form, repeat);
        return schema ? parse(schema, answer) : (answer as T);
      } catch (error) {
        if (!outcomeUnknown || !(error instanceof AppError)) throw error;
        // A gateway that gave up is no answer either.
        const unknown = error.carrierCode === NO_ANSWER || /^http_50[024]$/.test(error.carrierCode ?? '');
        if (!unknown) throw error;
        throw new AppError('carrier_error', UNKNOWN_OUTCOME, {
          cause: error,
          carrierCode: NO_ANSWER,
          retryable: false,
        });
      }
    },
    async delete(url) {
      await request('DELETE', url, null, true);
    },
  };
}

function encodeForm(form: Form): string {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const one of typeof value === 'string' ? [value] : value) body.append(name, one);
  }
  return body.toString();
}

/** The body as text, up to a bound. */
async function readText(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BODY_BYTES) throw new Error(`the answer is longer than ${MAX_BODY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function parse<T>(schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw strangeAnswer(parsed.error);
  return parsed.data;
}

/** It said yes, in words we do not understand: what was asked for may well be done. */
function strangeAnswer(cause: unknown): AppError {
  const message = 'The carrier gave an answer that cannot be understood.';
  return new AppError('carrier_error', message, { cause, carrierCode: NO_ANSWER, retryable: true });
}

// Both of Twilio's error bodies: {code, message, status} and RFC 9457's {title, detail, code}.
const errorBody = z.looseObject({
  code: z.union([z.number(), z.string()]).nullish().catch(null),
  message: z.string().nullish().catch(null),
  detail: z.string().nullish().catch(null),
  title: z.string().nullish().catch(null),
});

/** What a person can do something with, by the carrier's code. */
const MESSAGES: Record<string, string> = {
  '20003': 'The carrier does not accept our account and token.',
  '20005': 'The account at the carrier is not active.',
  '10001': 'The account at the carrier is disabled.',
  '10002': 'A trial account at the carrier cannot do this.',
  '10004': 'The account at the carrier has too many calls at once.',
  '20404': 'The carrier does not know this.',
  '20429': 'The carrier asks us to slow down.',
  '21201': 'No number to call was given.',
  '21205': 'The carrier cannot use our public URL.',
  '21402': 'The carrier cannot use our public URL.',
  '21210': 'The number to call from does not belong to the account at the carrier.',
  '21211': 'The number to call is not a valid phone number.',
  '21212': 'The number to call from is not a valid phone number.',
  '21213': 'No number to call from was given.',
  '21214': 'The number to call cannot be reached.',
  '21215': 'The account at the carrier may not call this country.',
  '21216': 'The carrier blocks calls to this number.',
  '21217': 'The number to call does not look like a phone number.',
  '21219': 'A trial account at the carrier can only call verified numbers.',
  '21220': 'The call has ended already.',
  '21404': 'A trial account at the carrier cannot have more numbers.',
  '21421': 'This is not a phone number that can be bought.',
  '21422': 'This phone number is not available any more.',
  '21451': 'The carrier does not know this area code.',
  '21452': 'The carrier has no numbers in this area code.',
  '21615': 'This number needs a local address at the carrier.',
  '21631': 'This number needs an address at the carrier.',
  '21649': 'This number needs regulatory documents at the carrier.',
  '22005': 'The carrier has too many calls waiting.',
};

function vendorError(status: number, text: string, secret: string): AppError {
  let body: z.infer<typeof errorBody> = {};
  try {
    body = errorBody.parse(JSON.parse(text));
  } catch {
    // Not the carrier's own words: a proxy's page, or nothing. The status says enough.
  }
  const known = body.code === null || body.code === undefined ? null : String(body.code);
  const code =
    known ??
    (status === 404 ? '20404' : status === 429 ? '20429' : status === 401 ? '20003' : `http_${status}`);
  // Its words may quote what it was sent: numbers, credentials.
  const words = redact(body.detail ?? body.message ?? body.title ?? `status ${status}`);
  const said = secret === '' ? words : words.replaceAll(secret, '[redacted]');
  const clear = Object.hasOwn(MESSAGES, code) ? MESSAGES[code] : undefined;
  const message = clear ?? `The carrier refused: ${said.slice(0, 300)}`;
  const retryable = status === 429 || status >= 500;
  return new AppError('carrier_error', message, {
    carrierCode: code,
    retryable,
    cause: new Error(said.slice(0, 300)),
  });
}
