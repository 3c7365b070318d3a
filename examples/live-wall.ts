// Shows what happens on the line as it happens, with no public address and no webhook: node examples/live-wall.ts
// OFFHOOK_URL and OFFHOOK_API_KEY say which daemon, and as whom.
import { Offhook } from 'offhook';

const offhook = new Offhook({ baseUrl: process.env.OFFHOOK_URL, apiKey: process.env.OFFHOOK_API_KEY });
const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

console.log('following');
try {
  for await (const { type, call } of offhook.events.follow({ signal: stop.signal })) {
    const { direction, from_number, to_number, duration_seconds, hangup_cause } = call;
    const end = duration_seconds === null ? '' : `after ${duration_seconds} s, ${hangup_cause}`;
    console.log(type, direction, from_number, '->', to_number, end);
  }
} catch (error) {
  if (!stop.signal.aborted) throw error;
}
