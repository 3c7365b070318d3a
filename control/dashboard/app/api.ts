// The SDK in the name of whoever is signed in: the same routes as /v1, authorized by the session.
import { Offhook } from '../../sdk/index.ts';
import { sessionFetch } from './session.ts';

export const api = new Offhook({ baseUrl: `${location.origin}/dashboard/api`, fetch: sessionFetch });

/** Where the browser itself finds a call's recording. */
export const recordingUrl = (callId: string) =>
  `/dashboard/api/v1/calls/${encodeURIComponent(callId)}/recording`;
