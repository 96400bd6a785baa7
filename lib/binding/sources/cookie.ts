import { parse } from 'cookie';
import type { ValueSource } from './value-source';

/** Cookies (RFC 6265, section 5.4): names exactly. */
export const cookie: ValueSource = {
  source: 'cookie',
  missing: 'This cookie is missing from the request.',
  open(context) {
    const { cookie: line } = context.req.headers;
    if (line === undefined) return undefined;
    const cookies = parse(line);
    return ({ name, type }) => {
      const value = Object.hasOwn(cookies, name) ? cookies[name] : undefined;
      return value === undefined ? undefined : type.fromText([value], context.at('cookie', name));
    };
  },
};
