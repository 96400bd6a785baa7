import type { ProblemLocation } from '../../problems/problem';

/** A header with one of these words in its name carries credentials: Authorization, Cookie, X-Api-Key, X-CSRF-Token. */
const CREDENTIAL = /auth|token|secret|passw|credential|cookie|session|signature|jwt|key|csrf|xsrf/i;

/**
 * Returns true for a value that a response never repeats: the client's user did not type it (a claim of the token, an
 * HttpOnly cookie), or it is a credential, which must not get into logs of responses.
 * @param name the name that the value was looked up under.
 */
export function isSecret(source: ProblemLocation, name: string): boolean {
  switch (source) {
    case 'claim':
    case 'permission':
    case 'cookie':
      return true;
    case 'header':
      return CREDENTIAL.test(name);
    case 'json':
    case 'form':
    case 'route':
    case 'query':
    case 'body':
      return false;
  }
}
