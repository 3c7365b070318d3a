// The Store with its secrets sealed: what goes in is sealed, what comes out of it is opened. The verbs below see sealed
// values only. Lists leave the headers of tools as they are stored: nobody reads them there.
import type { UserRecord } from './people-records.ts';
import type { AgentRecord, AgentView, CallRecord, EndpointRecord, OrganizationRecord } from './records.ts';
import { answerPlace, convertRecord, convertTools, placeOf, type Sealer } from './sealing.ts';
import type { Conflict, Store } from './store.ts';

const isConflict = (answer: object): answer is Conflict => 'conflict' in answer;

export function sealStore(store: Store, { seal, open }: Sealer): Store {
  const organizationIn = <R extends Partial<OrganizationRecord>>(id: string, record: R) =>
    convertRecord('organizations', id, record, seal);
  const organizationOut = (record: OrganizationRecord | null) =>
    record && convertRecord('organizations', record.id, record, open);
  const endpointIn = <R extends Partial<EndpointRecord>>(id: string, record: R) =>
    convertRecord('endpoints', id, record, seal);
  const endpointOut = (record: EndpointRecord) => convertRecord('endpoints', record.id, record, open);
  const userIn = <R extends Partial<UserRecord>>(id: string, record: R) =>
    convertRecord('users', id, record, seal);
  const userOut = (user: UserRecord) => convertRecord('users', user.id, user, open);
  const agentIn = <R extends Partial<AgentRecord>>(id: string, record: R): R =>
    record.tools == null ? record : { ...record, tools: convertTools('agents', id, record.tools, seal) };
  const agentOut = (agent: AgentView): AgentView =>
    agent.tools === null ? agent : { ...agent, tools: convertTools('agents', agent.id, agent.tools, open) };
  const callIn = <R extends Partial<CallRecord>>(id: string, record: R): R =>
    record.tools == null ? record : { ...record, tools: convertTools('calls', id, record.tools, seal) };
  const callOut = (call: CallRecord): CallRecord =>
    call.tools === null ? call : { ...call, tools: convertTools('calls', call.id, call.tools, open) };

  async function opened<T extends object>(
    answer: Promise<T | Conflict>,
    out: (record: T) => T,
  ): Promise<T | Conflict>;
  async function opened<T extends object>(
    answer: Promise<T | null>,
    out: (record: T) => T,
  ): Promise<T | null>;
  async function opened<T extends object>(
    answer: Promise<T | Conflict | null>,
    out: (record: T) => T,
  ): Promise<T | Conflict | null>;
  async function opened<T extends object>(answer: Promise<T | Conflict | null>, out: (record: T) => T) {
    const given = await answer;
    return given === null || isConflict(given) ? given : out(given);
  }

  return {
    ...store,

    createOrganization: async (organization, key, o) => {
      const made = await store.createOrganization(organizationIn(organization.id, organization), key, o);
      return isConflict(made) ? made : organization;
    },
    findOrganization: async (idOrName) => organizationOut(await store.findOrganization(idOrName)),
    listOrganizations: async (page) =>
      (await store.listOrganizations(page)).map((one) => convertRecord('organizations', one.id, one, open)),
    firstOrganization: async () => organizationOut(await store.firstOrganization()),
    getOrganization: async (id) => organizationOut(await store.getOrganization(id)),
    updateOrganization: async (id, change) =>
      organizationOut(await store.updateOrganization(id, organizationIn(id, change))),

    getUser: (orgId, id) => opened(store.getUser(orgId, id), userOut),
    firstOwner: (orgId) => opened(store.firstOwner(orgId), userOut),
    listUsers: async (orgId) => (await store.listUsers(orgId)).map(userOut),
    findUsersByEmail: async (email) => (await store.findUsersByEmail(email)).map(userOut),
    findUsersBySubject: async (issuer, subject) =>
      (await store.findUsersBySubject(issuer, subject)).map(userOut),
    createUser: (user, o) => opened(store.createUser(userIn(user.id, user), o), userOut),
    saveUser: (orgId, id, change, o) => opened(store.saveUser(orgId, id, userIn(id, change), o), userOut),

    createEndpoint: (endpoint, o) =>
      opened(store.createEndpoint(endpointIn(endpoint.id, endpoint), o), endpointOut),
    getEndpoint: (orgId, id) => opened(store.getEndpoint(orgId, id), endpointOut),
    listEndpoints: async (orgId, page) => (await store.listEndpoints(orgId, page)).map(endpointOut),
    updateEndpoint: (orgId, id, change) =>
      opened(store.updateEndpoint(orgId, id, endpointIn(id, change)), endpointOut),
    async claimDelivery(id, attempt, now, leaseMs) {
      const claimed = await store.claimDelivery(id, attempt, now, leaseMs);
      if (claimed === null) return null;
      const { endpoint_id, org_id } = claimed.delivery;
      const places =
        endpoint_id === null
          ? ['webhook_secret', 'previous_webhook_secret'].map((column) =>
              placeOf('organizations', column, org_id),
            )
          : ['secret', 'previous_secret'].map((column) => placeOf('endpoints', column, endpoint_id));
      return { ...claimed, secrets: claimed.secrets.map((secret, at) => open(secret, places[at] ?? '')) };
    },

    createAgent: (agent, numberIds) =>
      opened(store.createAgent(agentIn(agent.id, agent), numberIds), agentOut),
    getAgent: (orgId, id) => opened(store.getAgent(orgId, id), agentOut),
    updateAgent: (orgId, id, change, o) =>
      opened(store.updateAgent(orgId, id, agentIn(id, change), o), agentOut),
    archiveAgent: (orgId, id, at) => opened(store.archiveAgent(orgId, id, at), agentOut),
    attachNumber: (orgId, agentId, numberId, o) =>
      opened(store.attachNumber(orgId, agentId, numberId, o), agentOut),
    detachNumber: (orgId, agentId, numberId, at) =>
      opened(store.detachNumber(orgId, agentId, numberId, at), agentOut),
    setPrimaryNumber: (orgId, agentId, numberId, at) =>
      opened(store.setPrimaryNumber(orgId, agentId, numberId, at), agentOut),

    createCall: (call, o) => opened(store.createCall(callIn(call.id, call), o), callOut),
    getCall: (orgId, id) => opened(store.getCall(orgId, id), callOut),
    findCall: (id) => opened(store.findCall(id), callOut),
    findCallByCarrierId: (carrier, id) => opened(store.findCallByCarrierId(carrier, id), callOut),
    unfinishedCalls: async () => (await store.unfinishedCalls()).map(callOut),
    takeOver: async (o) => (await store.takeOver(o)).map(callOut),
    saveCall: (id, o, patience) =>
      opened(store.saveCall(id, { ...o, change: callIn(id, o.change) }, patience), callOut),

    async beginIdempotent(orgId, key, requestHash, now) {
      const begun = await store.beginIdempotent(orgId, key, requestHash, now);
      return 'body' in begun ? { ...begun, body: open(begun.body, answerPlace(orgId, key)) } : begun;
    },
    intendIdempotent: (orgId, key, body) =>
      store.intendIdempotent(orgId, key, seal(body, answerPlace(orgId, key))),
    async keptAnswers(orgId, after) {
      const answers = await store.keptAnswers(orgId, after);
      return answers.map(({ key, body }) => ({ key, body: open(body, answerPlace(orgId, key)) }));
    },
    async replaceAnswer(id, answer) {
      const body = seal(answer.body, answerPlace(answer.orgId, answer.key));
      await store.replaceAnswer(id, { ...answer, body });
    },
    finishIdempotent: (orgId, key, status, body) =>
      store.finishIdempotent(orgId, key, status, seal(body, answerPlace(orgId, key))),
  };
}
