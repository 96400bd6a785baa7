import { join } from 'node:path';
import { hs256 } from '../../support/hs256';
import { send, type WireResponse } from '../../support/listen';
import { NodeProcess } from '../../support/servers/node-process';

/** Where an example is; those in TypeScript are run from `dist`, where `npm run build` has compiled them. */
export const example = (path: string): string => join(__dirname, '../../../docs/examples', path);

export const SECRET = 'of the specs';

/** Each is another token of the same caller, as if it had been refreshed. */
export const bearer = (claims: object): string => `Bearer ${hs256({ ...claims, jti: Math.random() }, SECRET)}`;

export interface JsonRequest {
  readonly key?: string;
  readonly authorization?: string;
  readonly json?: unknown;
}

export function post({ url }: NodeProcess, path: string, request: JsonRequest): Promise<WireResponse> {
  const { key, authorization, json = {} } = request;
  const headers = {
    'Content-Type': 'application/json',
    ...(key !== undefined && { 'Idempotency-Key': key }),
    ...(authorization !== undefined && { Authorization: authorization }),
  };
  return send(`${url}${path}`, { headers, body: JSON.stringify(json) });
}

/** Whether a response is the stored one of an earlier request. */
export const isReplay = ({ headers }: WireResponse): boolean => headers['idempotent-replayed'] === 'true';
