// Places a call and prints its words and its result: node examples/reminder.ts +14155550123 "Tuesday, 10:00"
// OFFHOOK_URL and OFFHOOK_API_KEY say which daemon, and as whom.
import { Offhook } from 'offhook';

const [to = '', appointment = ''] = process.argv.slice(2);
const offhook = new Offhook({ baseUrl: process.env.OFFHOOK_URL, apiKey: process.env.OFFHOOK_API_KEY });

const [number] = (await offhook.numbers.list()).data;
if (number === undefined) throw new Error('Buy a number first: offhook numbers buy');

const agent = await offhook.agents.create({
  name: 'Reminder',
  type: 'outbound',
  instructions: 'Remind the person of their appointment and ask whether they will come.',
  returns: { will_come: 'boolean' },
  number_ids: [number.id],
});

const call = await offhook.calls.create({ agent_id: agent.id, to, context: { appointment } });
const ended = await offhook.calls.wait(call.id, { onChange: ({ status }) => console.log(status) });

const { data: lines } = await offhook.calls.transcript(call.id);
for (const { role, heard_text } of lines) console.log(`${role}: ${heard_text}`);
console.log(ended.result);
