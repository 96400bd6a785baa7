import { createHmac } from 'node:crypto';

const encoded = (text: string): string => Buffer.from(text).toString('base64url');

/** A JSON Web Token (RFC 7519), signed with HMAC SHA-256. @param payload JSON text goes in as it is, digit for digit. */
export function hs256(payload: object | string, secret: string): string {
  const signed = `${encoded('{"alg":"HS256","typ":"JWT"}')}.${encoded(typeof payload === 'string' ? payload : JSON.stringify(payload))}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}
