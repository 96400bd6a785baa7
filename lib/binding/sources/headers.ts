import { parse } from 'cookie';
import { headerLines } from '../../http/express';
import type { ValueSource } from '../input/binder-context';
import { ownValue } from '../reading/json-text';
import { NameTree } from '../reading/name-tree';
import { readNames } from '../types/read-names';

/** Request headers; names are case-insensitive (RFC 9110, section 5.1), and repeated lines are several values. */
export const header: ValueSource = {
  name: 'header',
  missing: 'This header is missing from the request.',
  read(context, members, values) {
    for (const member of members) {
      const { name, anyCase, codec, required } = member;
      const lines = headerLines(anyCase, context.req);
      if (lines)
        context.put(
          values,
          member,
          readNames(codec, new NameTree(lines), context.locationOf('header', name), required),
        );
    }
  },
};

/** Cookies (RFC 6265, section 5.4); names are case-sensitive. */
export const cookie: ValueSource = {
  name: 'cookie',
  missing: 'This cookie is missing from the request.',
  read(context, members, values) {
    const { cookie: line } = context.req.headers;
    if (line === undefined) return;
    const cookies = parse(line);
    for (const member of members) {
      const { name, codec, required } = member;
      const value = ownValue(cookies, name);
      if (typeof value === 'string')
        context.put(
          values,
          member,
          readNames(codec, new NameTree([value]), context.locationOf('cookie', name), required),
        );
    }
  },
};
