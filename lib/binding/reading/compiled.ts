import { compileFunction } from 'node:vm';
import type { JsonObject } from '../json/json-text';
import type { Filling } from './filling';
import type { Place } from './place';

/**
 * What is compiled for one class, once, when its middleware is made: names and classes that are constants cost a fraction of
 * what they cost in variables. The code is made of declared names, written as JSON, and of nothing else; nothing of a request
 * ever gets into it. `compileFunction` works also where the runtime forbids to make code out of strings.
 */
function compile(code: string, constants: Readonly<Record<string, unknown>>): unknown {
  return compileFunction(`'use strict'; ${code}`, Object.keys(constants), { filename: 'bindonce:compiled' }).call(undefined, ...Object.values(constants));
}

/** Makes instances of one class. */
export function makerOf<T>(Dto: new () => T): () => T {
  return compile('return () => new Dto();', { Dto }) as () => T;
}

/** A property that is read from a field of a JSON object. */
export interface Field {
  readonly property: string;
  readonly jsonName: string;
  /** Reads a value by itself, where the type can. */
  readonly ifJson: ((value: unknown) => unknown) | undefined;
}

/** Reads the fields of a JSON object, one after the other, into a dto. */
export type ReadFields = (filling: Filling, json: JsonObject, place: Place) => void;

/** @param goOn reads a field that is not there, or that its type cannot read by itself. */
export function readerOf<F extends Field>(fields: readonly F[], goOn: (field: F, ...from: Parameters<ReadFields>) => void): ReadFields {
  const lines = fields.map(({ property, jsonName, ifJson }, index) => {
    const [name, target] = [jsonName, property].map(text => JSON.stringify(text));
    const rest = `goOn(fields[${index}], filling, json, place);`;
    // What every object inherits is not what was sent: `constructor` and `__proto__`, and whatever is added later.
    if (!ifJson || jsonName in Object.prototype) return rest;
    return `sent = json[${name}]; value = sent === inherited[${name}] ? undefined : read${index}(sent); if (value !== undefined) dto[${target}] = value; else ${rest}`;
  });
  const readers = Object.fromEntries(fields.map(({ ifJson }, index) => [`read${index}`, ifJson]));
  return compile(`return (filling, json, place) => { const { dto } = filling; let sent, value;\n${lines.join('\n')}\n};`, { inherited: Object.prototype, fields, goOn, ...readers }) as ReadFields;
}

/** Whether an instance has a value of its own for every one of the properties. */
export function completenessOf(Dto: new () => unknown, properties: readonly string[]): (dto: object) => boolean {
  const own = properties.map(property => JSON.stringify(property)).map(name => `dto[${name}] !== inherited[${name}]`);
  return compile(`return dto => ${['true', ...own].join(' && ')};`, { inherited: Dto.prototype as unknown }) as (dto: object) => boolean;
}
