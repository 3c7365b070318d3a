// The organization of a key itself: what is said of it on its calls. Which organizations there are is the operator's:
// organizations.ts.
import { z } from 'zod';
import { spokenNameOf } from '../../storage/disclosure.ts';
import type { OrganizationRecord } from '../../storage/records.ts';
import { found } from '../http/answer.ts';
import { type Route, route } from '../http/route.ts';
import { id, time } from '../http/schemas.ts';

const NO_ORGANIZATION = 'The organization is gone.';
const EXAMPLE = {
  id: '0199b0c4-7a10-7cc0-9b1e-2f6d5a8e4c60',
  name: 'Harbour Clinic Ltd',
  spoken_name: 'the Harbour Clinic',
  said_as: 'the Harbour Clinic',
  recording_notice: null,
  created_at: '2026-03-01T12:00:00.000Z',
};

const spokenName = z
  .string()
  .trim()
  .min(1, 'needs a name, or null')
  .max(100, 'may have 100 characters at most')
  .refine((name) => !/\p{Cc}|\p{Cf}|[{}]/u.test(name), 'may have no control characters and no braces')
  .nullable();
const recordingNotice = z.enum(['always', 'never'], 'must be always, never or null').nullable();

const ownOrganization = z
  .strictObject({
    id: id.describe('Organization id: `org_id` of what belongs to it.'),
    name: z.string().describe('What it is called here.'),
    spoken_name: spokenName.describe('What it is called on the phone. Null: as its name.'),
    said_as: z
      .string()
      .nullable()
      .describe(
        'The name that agents say. Null: none, while it has the name of a first start and no other was given.',
      ),
    recording_notice: recordingNotice.describe(
      'Whether a call that is recorded begins with a line that says so. Null: as the daemon has it (`RECORDING_NOTICE`).',
    ),
    created_at: time.describe('Creation.'),
  })
  .meta({
    id: 'OwnOrganization',
    description: 'The organization that the key belongs to.',
    examples: [EXAMPLE],
  });

const organizationChange = z
  .strictObject({
    spoken_name: spokenName
      .optional()
      .describe(
        'What it is called on the phone, as it is to be said: 100 characters at most. Null: as its name.',
      ),
    recording_notice: recordingNotice
      .optional()
      .describe('`always` or `never`; null: as the daemon has it (`RECORDING_NOTICE`).'),
  })
  .refine((change) => Object.keys(change).length > 0, 'needs something to change')
  .meta({ id: 'OrganizationChange', examples: [{ spoken_name: EXAMPLE.spoken_name }] });

const view = (organization: OrganizationRecord) => {
  const { id, name, spoken_name, recording_notice, created_at } = organization;
  return { id, name, spoken_name, said_as: spokenNameOf(organization), recording_notice, created_at };
};

export const ownOrganizationRoutes: Route[] = [
  route({
    method: 'get',
    path: '/v1/organization',
    operation: 'getOrganization',
    summary: 'Read your organization: its name, and what is said of it on calls',
    status: 200,
    answer: ownOrganization,
    async run({ store, orgId }) {
      return { body: view(found(await store.getOrganization(orgId), NO_ORGANIZATION)) };
    },
  }),

  route({
    method: 'patch',
    path: '/v1/organization',
    operation: 'updateOrganization',
    summary: 'Change what is said of your organization on calls that begin from now on',
    needs: 'admin',
    status: 200,
    body: organizationChange,
    answer: ownOrganization,
    async run({ store, orgId, body }) {
      const change: Partial<Pick<OrganizationRecord, 'spoken_name' | 'recording_notice'>> = {};
      if (body.spoken_name !== undefined) change.spoken_name = body.spoken_name;
      if (body.recording_notice !== undefined) change.recording_notice = body.recording_notice;
      return { body: view(found(await store.updateOrganization(orgId, change), NO_ORGANIZATION)) };
    },
  }),
];
