import type { ProblemLocation } from '../../problems/problem';

/** Headers that have one of these in their name, like Authorization, Cookie, X-Api-Key and X-CSRF-Token, carry credentials. */
const CREDENTIAL = /auth|token|secret|passw|credential|cookie|session|signature|jwt|key|csrf|xsrf/i;

/**
 * True for a value that is never repeated in an answer: the client did not send it, as a claim of its token or an HttpOnly
 * cookie, or it is a credential, which must not get into logs of answers.
 * @param name that the value was looked up under.
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
