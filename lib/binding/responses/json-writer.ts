import type { Response } from 'express';
import { exactText } from '../types/exact-text';
import { isExpress4 } from '../../http/express';
import { namingErrors } from '../declaration/declaration-error';
import type { ResponseTypes } from '../types/serializer-options';
import type { Codec } from '../types/codec';
import { written } from '../types/write-value';
import type { CodecTable } from '../plan/codec-table';
import { checkIsWritable } from '../plan/checks';
import type { CodecOfInstance } from './instance-codecs';

/** The codecs of an endpoint's responses, by status. */
export type ResponseCodecs = ReadonlyMap<number, Codec>;

/**
 * Makes the codecs of the responses.
 * @throws TypeError that names the class and the property that cannot be written.
 */
export function responseCodecs(responses: ResponseTypes, codecs: CodecTable): ResponseCodecs {
  return new Map(
    Object.entries(responses).map(([status, type]) => {
      const codec = namingErrors(`responses[${status}]`, () => {
        const made = codecs.complete(type);
        checkIsWritable(made);
        return made;
      });
      return [Number(status), codec];
    }),
  );
}

/** Writes a value as JSON: numbers with all their digits, and only the declared properties. */
export const writeJson = (codec: Codec, value: unknown, settings?: JsonSettings): string | undefined =>
  exactText(written(codec, value), settings?.spaces, settings?.replacer);

/** Express's JSON settings of the application. */
interface JsonSettings {
  readonly replacer: ((key: string, value: unknown) => unknown) | undefined;
  readonly spaces: string | number | undefined;
}

type Send = (...values: unknown[]) => Response;
/** @param status may be text, which node sends, too. */
type TypeForStatus = (status: number | string) => Codec | undefined;

/** What the middlewares so far declare for each response. */
const declaredTypes = new WeakMap<Response, TypeForStatus>();

/**
 * Makes `res.json()` and `res.jsonp()` write values as the type that is declared for the status, here or by an earlier
 * middleware.
 * @param ofInstance finds the codec of a dto if none declares a type for the status.
 */
export function writeResponsesAs(codecs: ResponseCodecs, res: Response, ofInstance?: CodecOfInstance): void {
  const [json, jsonp] = [res.json.bind(res) as Send, res.jsonp.bind(res) as Send];
  const earlier = declaredTypes.get(res);
  const declaredFor: TypeForStatus = status => codecs.get(Number(status)) ?? earlier?.(status);
  declaredTypes.set(res, declaredFor);
  const codecFor = (value: unknown): Codec | undefined => declaredFor(res.statusCode) ?? ofInstance?.(value);
  res.jsonp = (...given: unknown[]) => {
    const value = valueIn(given, res);
    const codec = codecFor(value);
    // Express makes the script, in which a number is a double in any case.
    return jsonp(codec ? JSON.parse(writeJson(codec, value) ?? 'null') : value);
  };
  res.json = (...given: unknown[]) => {
    const value = valueIn(given, res);
    const codec = codecFor(value);
    if (!codec) return json(value);
    const { app } = res;
    const text = writeJson(codec, value, {
      replacer: app.get('json replacer') as JsonSettings['replacer'],
      spaces: app.get('json spaces') as JsonSettings['spaces'],
    });
    if (!res.get('Content-Type')) res.set('Content-Type', 'application/json');
    return res.send(app.get('json escape') ? escaped(text) : text);
  };
}

/** Returns the value of a call, and sets the status that Express 4 still accepts next to it, on either side. */
function valueIn([first, ...others]: readonly unknown[], res: Response): unknown {
  const [second] = others;
  // Express 5 ignores a second argument.
  if (others.length !== 1 || !isExpress4(res.app)) return first;
  const isStatusLast = typeof second === 'number';
  res.statusCode = (isStatusLast ? second : first) as number;
  return isStatusLast ? first : second;
}

/** Applies Express's `json escape` setting, for browsers that treat JSON as HTML. */
function escaped(text: string | undefined): string | undefined {
  return text?.replace(/[<>&]/g, character => `\\u00${character.charCodeAt(0).toString(16)}`);
}
