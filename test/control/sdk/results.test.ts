// What a call brings back, in types: an assignment here that tsc takes, or refuses where it must, is the test; at run time, whether
// a call was asked for it.
import t from 'tap';
import { type Call, type CallOf, Offhook, type ResultOf, resultOf } from '../../../control/sdk/index.ts';

const REMINDER = {
  will_come: 'boolean',
  day: 'date',
  people: 'integer',
  mood: 'enum(good | bad)',
  wishes: 'string[]',
  rooms: 'enum(1|2)[]',
  size: { type: 'string', enum: ['small', 'large'] },
  colours: { type: 'enum[]', enum: ['red', 'blue'] },
  note: { type: 'string', description: 'Anything else.' },
} as const;

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_T extends true>() => {};

/** A daemon that answers as it was asked. */
function client(result: unknown) {
  const asked: { method: string; body: unknown }[] = [];
  const offhook = new Offhook({
    apiKey: 'sk_x',
    fetch: async (_url, init) => {
      const body = init?.body == null ? {} : (JSON.parse(String(init.body)) as object);
      asked.push({ method: init?.method ?? 'GET', body });
      return Response.json({ id: 'one', status: 'completed', result_status: 'completed', result, ...body });
    },
  });
  return { offhook, asked };
}

t.test('each type name is the type of its values, and any of them may be null', async () => {
  type Result = ResultOf<typeof REMINDER>;
  holds<Same<Result['will_come'], boolean | null>>();
  holds<Same<Result['day'], string | null>>();
  holds<Same<Result['people'], number | null>>();
  holds<Same<Result['mood'], 'good' | 'bad' | null>>();
  holds<Same<Result['wishes'], string[] | null>>();
  holds<Same<Result['rooms'], ('1' | '2')[] | null>>();
  holds<Same<Result['size'], 'small' | 'large' | null>>();
  holds<Same<Result['colours'], ('red' | 'blue')[] | null>>();
  holds<Same<Result['note'], string | null>>();
});

t.test("an agent's calls know what it asks for, and so does a call of a prompt", async (t) => {
  const { offhook, asked } = client({ will_come: true });
  const agent = await offhook.agents.create({
    name: 'Reminder',
    type: 'outbound',
    returns: { will_come: 'boolean', mood: 'enum(good|bad)' },
  });
  const call = await offhook.calls.create({ agent_id: agent.id, to: '+14155550123' });
  holds<Same<typeof call, CallOf<{ readonly will_come: 'boolean'; readonly mood: 'enum(good|bad)' }>>>();
  const { result } = await offhook.calls.wait(call.id);
  holds<Same<typeof result, { will_come: boolean | null; mood: 'good' | 'bad' | null } | null>>();
  t.equal(result?.will_come, true);
  const prompted = await offhook.calls.create({
    to: '+14155550123',
    instructions: 'Ask.',
    returns: { people: 'integer' },
  });
  holds<Same<typeof prompted.result, { people: number | null } | null>>();
  t.match(asked.at(-1), { method: 'POST', body: { returns: { people: 'integer' } } });
  // Where nothing is known of it, it is what it has always been.
  const plain = await offhook.calls.create({ agent_id: 'a-text', to: '+14155550123' });
  holds<Same<typeof plain, Call>>();
  const waited = await offhook.calls.wait('a-text');
  holds<Same<typeof waited, Call>>();
  // @ts-expect-error it was not asked for that
  t.equal(result?.people, undefined);
});

t.test(
  "a webhook's call is given the type of what was asked, and refused where it was asked for something else",
  async (t) => {
    const call = { returns: { will_come: 'boolean' }, result: { will_come: false } };
    const result = resultOf(call, { will_come: 'boolean' });
    holds<Same<typeof result, { will_come: boolean | null } | null>>();
    t.same(result, { will_come: false });
    t.equal(resultOf({ ...call, result: null }, { will_come: 'boolean' }), null);
    t.throws(() => resultOf(call, { day: 'date' }), { message: /not asked for "day", only for: will_come/ });
  },
);
