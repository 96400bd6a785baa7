import type { Response } from 'express';
import { isExpress4 } from '../../http/express';
import { warnOnce } from '../../warnings/warn-once';
import { isDto, namingErrors } from '../declaration/declarations';
import { checkIsWritable, type CodecTable } from '../declaration/codec-table';
import { withParts, type Codec } from '../types/codec';
import { exactText } from '../types/exact-text';
import { classNameOf, isValueType, type AnyType } from '../types/property-type';
import type { ResponseTypes } from '../types/serializer-options';
import { written } from '../types/write-value';

/** The codecs of an endpoint's responses, by status. */
export type ResponseCodecs = ReadonlyMap<number, Codec>;

/**
 * Finds the codec of a response value by its own declaration; undefined for a value that is not a dto or an array of
 * dtos of one class.
 */
export type CodecOfInstance = (value: unknown) => Codec | undefined;

/**
 * Makes the codecs of the responses.
 * @throws TypeError that names the class and the property that cannot be written.
 */
export function responseCodecs(responses: ResponseTypes, codecs: CodecTable): ResponseCodecs {
  const codecFor = (type: AnyType): Codec => {
    const made = codecs.complete(type);
    checkIsWritable(made);
    return made;
  };
  return new Map(
    Object.entries(responses).map(([status, type]) => [
      Number(status),
      namingErrors(`responses[${status}]`, () => codecFor(type)),
    ]),
  );
}

/**
 * @param codecs the endpoint's codecs, with its naming policy and converters.
 * @param own the endpoint's own dto; its codec is made at once, because most handlers respond with it.
 */
export function instanceCodecs(codecs: CodecTable, own: AnyType): CodecOfInstance {
  const known = new Map<unknown, Codec | undefined>();
  const codecOf = (value: unknown): Codec | undefined => {
    // A `toJSON` of its own defines its JSON form.
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
    // A dto may have a property of this name.
    const { constructor: Dto } = Object(Object.getPrototypeOf(value)) as { constructor: unknown };
    if (!isDto(Dto) || !(value instanceof Dto)) return undefined;
    if (!known.has(Dto)) known.set(Dto, codecFor(Dto, codecs));
    return known.get(Dto);
  };
  const ownCodec = isDto(own) || isValueType(own) ? codecFor(own, codecs) : undefined;
  if (isDto(own)) known.set(own, ownCodec);
  // A value of `oneOf` is an instance of a class, and has the tag, too.
  for (const part of ownCodec ? withParts(ownCodec) : [])
    if (part.kind === 'union') for (const branch of part.branches.values()) known.set(branch.Dto, branch);
  return value => {
    if (!Array.isArray(value)) return codecOf(value);
    const [item, ...others] = new Set(value.filter(one => one !== undefined && one !== null).map(codecOf));
    return item && others.length === 0 ? { kind: 'list', name: 'array', item } : undefined;
  };
}

/**
 * Leaves a class that cannot be written to Express: the handler has done its work, and must not fail because of its
 * response.
 */
function codecFor(type: AnyType, codecs: CodecTable): Codec | undefined {
  try {
    return codecs.complete(type);
  } catch (error) {
    const what = `bindonce: res.json() leaves ${classNameOf(type)} to Express: ${(error as Error).message}`;
    warnOnce('BINDONCE_RESPONSE_CLASS', `${what} Give a converter, or declare the response in \`responses\`.`, what);
    return undefined;
  }
}

/**
 * Makes `res.json()` and `res.jsonp()` write values as the type that is declared for the status, with all digits of
 * numbers and only the declared properties.
 * @param ofInstance finds the codec of a dto if no type is declared for the status.
 */
export function writeResponsesAs(codecs: ResponseCodecs, res: Response, ofInstance?: CodecOfInstance): void {
  // Undeclared responses are those of an earlier middleware, or of Express.
  const [json, jsonp] = [res.json.bind(res), res.jsonp.bind(res)];
  const { app } = res;
  // Node sends a status that is text, too.
  const status = (): number | string => res.statusCode;
  const codecFor = (value: unknown): Codec | undefined => codecs.get(Number(status())) ?? ofInstance?.(value);
  res.jsonp = (...given: unknown[]) => {
    const value = valueIn(given, res);
    const codec = codecFor(value);
    // Express makes the script, in which a number is a double in any case.
    return jsonp(codec ? JSON.parse(exactText(written(codec, value)) ?? 'null') : value);
  };
  res.json = (...given: unknown[]) => {
    const value = valueIn(given, res);
    const codec = codecFor(value);
    if (!codec) return json(value);
    const replacer = app.get('json replacer') as Parameters<typeof exactText>[2];
    const text = exactText(written(codec, value), app.get('json spaces') as string | number | undefined, replacer);
    if (!res.get('Content-Type')) res.set('Content-Type', 'application/json');
    // For browsers that treat JSON as HTML.
    const escaped = (one: string): string => `\\u00${one.charCodeAt(0).toString(16)}`;
    return res.send(app.get('json escape') ? text?.replace(/[<>&]/g, escaped) : text);
  };
}

/** Returns the value of a call, and sets the status that Express 4 still accepts next to it, on either side. */
function valueIn([first, second, ...others]: readonly unknown[], res: Response): unknown {
  if (second === undefined || others.length > 0 || !isExpress4(res.app)) return first;
  const isStatusLast = typeof second === 'number';
  res.statusCode = (isStatusLast ? second : first) as number;
  return isStatusLast ? first : second;
}
