import { claim } from './claim';
import { cookie } from './cookie';
import { form } from './form';
import { header } from './header';
import { json } from './json';
import { permission } from './permission';
import { query } from './query';
import { route } from './route';
import type { ValueSource } from './request-input';

/** The sources in binding order: a later source overwrites values of an earlier one. */
export const sourcesInOrder: readonly ValueSource[] = [json, form, route, query, claim, header, cookie, permission];
