// PURE types. How the REST API answers.
import type { Response } from 'express';

/** Answers with a status and a body; null is an empty body. */
export type Answer = (response: Response, status: number, body: unknown) => void;
