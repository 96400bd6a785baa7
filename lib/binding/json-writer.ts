import type { Response } from 'express';
import { stringify } from 'lossless-json';
import { mistakesAt } from './mistake';
import type { ResponseTypes } from './serializer-options';
import { written, type Codec } from './types/codec';
import type { CodecTable } from './types/codec-table';

/** The codecs of an endpoint's responses by status. */
export type ResponseCodecs = ReadonlyMap<number, Codec<unknown>>;

/** @throws TypeError naming the class and the property that cannot be written as declared. */
export function responseCodecs(responses: ResponseTypes, codecs: CodecTable): ResponseCodecs {
  return new Map(Object.entries(responses).map(([status, type]) => [Number(status), mistakesAt(`responses[${status}]`, () => codecs.complete(type))]));
}

/** JSON text of a value: numbers with all their digits, properties as declared and no others. */
export function writeJson(codec: Codec<unknown>, value: unknown, spaces?: string | number): string | undefined {
  return stringify(written(codec, value), undefined, spaces);
}

/** From here on, `res.json()` writes what the handler hands over as the type that is declared for the status. */
export function writeResponsesAs(codecs: ResponseCodecs, res: Response): void {
  const json = res.json.bind(res);
  res.json = value => {
    const codec = codecs.get(res.statusCode);
    if (!codec) return json(value);
    if (!res.get('Content-Type')) res.set('Content-Type', 'application/json');
    return res.send(writeJson(codec, value, res.app.get('json spaces') as string | number | undefined));
  };
}
