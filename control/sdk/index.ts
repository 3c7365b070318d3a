// The SDK's entry: what `import … from 'offhook'` offers. Runs wherever there are `fetch` and WebCrypto.
export type * from './api.ts';
export { hasEnded, Offhook, type WaitOptions } from './client.ts';
export { OffhookConnectionError, OffhookError, WebhookVerificationError } from './errors.ts';
export { List, type Page } from './list.ts';
export { type AgentOf, type CallOf, type ResultOf, resultOf } from './results.ts';
export type { OffhookOptions, RequestOptions, RequestTold, ResponseTold } from './transport.ts';
export { sign, type TestWebhook, verify, type WebhookEvent } from './webhooks.ts';
