// The newest lines of the daemon's log, read or followed: an organization's own by its key, all of them by the operator's.
import type { Response } from 'express';
import { z } from 'zod';
import type { LogLine, RecentLog } from '../../recent-log.ts';
import type { Store } from '../../storage/store.ts';
import { concurrencyLimit } from '../http/concurrency-limit.ts';
import { contextOf } from '../http/request-context.ts';
import { type Route, route } from '../http/route.ts';
import { id, time } from '../http/schemas.ts';
import { operatorKeyHeader, operatorOnly } from './operator-key.ts';

const MAX_WAITING = 20;
const inTurn = concurrencyLimit(MAX_WAITING, {
  message: `${MAX_WAITING} requests wait for the next line already; follow with fewer, or with wait=0.`,
  retryAfterSeconds: 5,
});
/** Calls whose organization is remembered. */
const MAX_KNOWN = 1_000;
const LEVELS = ['debug', 'info', 'warn', 'error'] as const;

const query = z.strictObject({
  after: z.coerce
    .number('must be a number')
    .int()
    .min(0)
    .optional()
    .describe('`next` of the answer before. Left out: the newest lines.'),
  limit: z.coerce
    .number('must be a number')
    .int()
    .min(1)
    .max(1000)
    .default(100)
    .describe('How many at most.'),
  wait: z.coerce
    .number('must be a number')
    .int()
    .min(0)
    .max(25)
    .default(0)
    .describe('Seconds to wait for the first one when there is none yet.'),
  level: z.enum(LEVELS).default('debug').describe('This level and what is graver.'),
  call_id: id.optional().describe('Of this call alone.'),
});

const answer = z.strictObject({
  data: z
    .array(
      z
        .strictObject({
          seq: z.int().describe('Counts the lines of this run of the daemon from 1.'),
          time: time.describe('When it was written.'),
          level: z.enum(LEVELS).describe('How grave it is.'),
          event: z.string().describe('What happened, such as `call.ended`.'),
          fields: z
            .record(z.string(), z.unknown())
            .describe('The rest of the line, masked as the log is: no speech, no keys, no whole numbers.'),
        })
        .meta({ id: 'LogLine', description: 'A line of the daemon’s log.' }),
    )
    .describe('Oldest first.'),
  next: z.int().describe('Give it as `after` to go on from here.'),
});

/** Whose a line is: its own word for it, else that of the call it is about; undefined: nobody's in particular. */
async function ownerOf(
  { fields }: LogLine,
  store: Pick<Store, 'findCall'>,
  known: Map<string, string | undefined>,
): Promise<string | undefined> {
  const { org_id: orgId, call_id: callId } = fields;
  if (typeof orgId === 'string') return orgId;
  if (typeof callId !== 'string') return undefined;
  if (!known.has(callId)) {
    for (const first of known.keys()) {
      if (known.size < MAX_KNOWN) break;
      known.delete(first);
    }
    known.set(callId, (await store.findCall(callId))?.org_id);
  }
  return known.get(callId);
}

/** Resolves with the next line, when the time is over, or whoever asks has gone. */
function nextLine(recent: RecentLog, forMs: number, res: Response): Promise<void> {
  return new Promise((resolve) => {
    const stop = () => {
      clearTimeout(timer);
      leave();
      resolve();
    };
    const timer = setTimeout(stop, forMs);
    const leave = recent.onLine(stop);
    res.once('close', stop);
  });
}

const HEADER = operatorKeyHeader(
  'the lines that belong to no organization, and to others, are on the host alone',
);

export const logRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/logs',
    operation: 'readLogs',
    errors: ['forbidden', 'rate_limited'],
    needs: 'admin',
    header: HEADER,
    summary: 'Read the newest lines of the daemon’s log, or follow them',
    description:
      'Of the daemon that answers, since its start, 5,000 at most: a window on what happens, not the place where logs are kept. With an API key alone: lines of the organization and its calls. With the operator’s key beside it: all.',
    status: 200,
    query,
    answer,
    async run({ store, orgId, query, config, recentLog, monotonicMs }, res) {
      const all = res.req.get('Operator-Key') !== undefined;
      if (all) operatorOnly(config.OPERATOR_KEY, res, 'The whole log is');
      const known = new Map<string, string | undefined>();
      const least = LEVELS.indexOf(query.level);
      const fits = async (line: LogLine) => {
        const { level, call_id: callId } = line.fields;
        if (LEVELS.indexOf(level as (typeof LEVELS)[number]) < least) return false;
        if (query.call_id !== undefined && callId !== query.call_id) return false;
        return all || (await ownerOf(line, store, known)) === orgId;
      };
      // A number of a run before this one leads to the beginning of this.
      let from = query.after === undefined || query.after > recentLog.last ? 0 : query.after;
      const newest = query.after === undefined;
      const read = async () => {
        const found: LogLine[] = [];
        for (const line of recentLog.after(from)) {
          from = line.seq;
          if (!(await fits(line))) continue;
          found.push(line);
          if (found.length > query.limit) {
            if (newest) found.shift();
            else break;
          }
        }
        const given = found.slice(0, query.limit);
        if (given.length < found.length) from = given.at(-1)?.seq ?? from;
        return given;
      };
      const until = monotonicMs() + query.wait * 1000;
      let lines = await read();
      if (lines.length === 0 && query.wait > 0) {
        await inTurn(orgId, async () => {
          for (let left = until - monotonicMs(); left > 0 && lines.length === 0 && !res.closed; ) {
            // What came while it was read is read at once.
            if (recentLog.last === from) await nextLine(recentLog, left, res);
            if (!(await contextOf(res).isStillGood())) return;
            lines = await read();
            left = until - monotonicMs();
          }
        });
      }
      return { body: { data: lines.map(view), next: from } };
    },
  }),
];

function view({ seq, fields: { time, level, event, ...fields } }: LogLine) {
  return { seq, time, level, event: String(event ?? ''), fields };
}
