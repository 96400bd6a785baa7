import type { Response } from 'express';
import { checkIsWritable, type CodecTable } from '../declaration/codec-table';
import { isDto, namingErrors } from '../declaration/declarations';
import { withParts, type Codec, type CodecMember } from '../types/codec';
import type { ResponseTypes } from '../types/serializer-options';
import { exactText, written } from '../types/write-value';

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
  return new Map(
    Object.entries(responses).map(([status, type]) =>
      namingErrors(`responses[${status}]`, () => {
        const codec = codecs.complete(type);
        checkIsWritable(codec);
        return [Number(status), codec];
      }),
    ),
  );
}

/**
 * @param codecs the endpoint's codecs, with its naming policy and converters.
 * @param members the properties of its dto.
 */
export function instanceCodecs(codecs: CodecTable, members: readonly CodecMember[]): CodecOfInstance {
  // A value of `oneOf` is an instance of a class, and has the tag, too.
  const branches = new Map<unknown, Codec>();
  for (const part of members.flatMap(({ codec }) => [...withParts(codec)]))
    if (part.kind === 'union') for (const branch of part.branches.values()) branches.set(branch.Dto, branch);
  const codecOf = (value: unknown): Codec | undefined => {
    // A `toJSON` of its own defines its JSON form.
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return undefined;
    // A dto may have a property of this name.
    const { constructor: Dto } = Object(Object.getPrototypeOf(value)) as { constructor: unknown };
    if (!isDto(Dto) || !(value instanceof Dto)) return undefined;
    return branches.get(Dto) ?? codecs.complete(Dto);
  };
  return value => {
    if (!Array.isArray(value)) return codecOf(value);
    const [item, ...others] = new Set(value.filter(one => one !== undefined && one !== null).map(codecOf));
    return item && others.length === 0 ? { kind: 'list', name: 'array', item } : undefined;
  };
}

/**
 * Makes `res.json()` and `res.jsonp()` write values as the type that is declared for the status, with all digits of
 * numbers and only the declared properties.
 * @param ofInstance finds the codec of a dto if no type is declared for the status.
 */
export function writeResponsesAs(codecs: ResponseCodecs, res: Response, ofInstance?: CodecOfInstance): void {
  // Undeclared responses are those of an earlier middleware, or of Express.
  const [json, jsonp] = [res.json.bind(res), res.jsonp.bind(res)];
  const codecFor = (value: unknown, others: readonly unknown[]): Codec | undefined => {
    if (others.some(one => one !== undefined))
      throw new TypeError('res.json() takes the value only; set the status first: res.status(201).json(value)');
    // Node sends a status that is text, too.
    return codecs.get(Number(String(res.statusCode))) ?? ofInstance?.(value);
  };
  res.jsonp = (value: unknown, ...others: unknown[]) => {
    const codec = codecFor(value, others);
    // Express makes the script, in which a number is a double in any case.
    return jsonp(codec ? JSON.parse(exactText(written(codec, value)) ?? 'null') : value);
  };
  res.json = (value: unknown, ...others: unknown[]) => {
    const codec = codecFor(value, others);
    if (!codec) return json(value);
    const setting = (name: string): unknown => res.app.get(`json ${name}`);
    const replacer = setting('replacer') as Parameters<typeof exactText>[2];
    const text = exactText(written(codec, value), setting('spaces') as string | number | undefined, replacer);
    if (!res.get('Content-Type')) res.set('Content-Type', 'application/json');
    // For browsers that treat JSON as HTML.
    const escaped = (one: string): string => `\\u00${one.charCodeAt(0).toString(16)}`;
    return res.send(setting('escape') ? text?.replace(/[<>&]/g, escaped) : text);
  };
}
