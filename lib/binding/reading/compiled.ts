import { compileFunction } from 'node:vm';
import type { JsonObject } from './json-text';
import type { Location } from './location';

/**
 * What is compiled for one class, once, when its middleware is made: names and classes that are constants cost a fraction of
 * what they cost in variables. The code is made of declared names, written as JSON, and of nothing else; nothing of a request
 * ever gets into it. `compileFunction` works also where the runtime forbids to make code out of strings.
 */
function compile(code: string, constants: Readonly<Record<string, unknown>>): unknown {
  return compileFunction(`'use strict'; ${code}`, Object.keys(constants), { filename: 'bindonce:compiled' }).call(
    undefined,
    ...Object.values(constants),
  );
}

/** Makes instances of one class. */
export function makerOf<T>(Dto: new () => T): () => T {
  return compile('return () => new Dto();', { Dto }) as () => T;
}

/** Sets the properties of which a value was found, in their order. */
export function setterOf(properties: readonly string[]): (dto: object, values: readonly unknown[]) => void {
  const lines = properties.map(
    (property, index) => `if (values[${index}] !== undefined) dto[${JSON.stringify(property)}] = values[${index}];`,
  );
  return compile(`return (dto, values) => {\n${lines.join('\n')}\n};`, {}) as (
    dto: object,
    values: readonly unknown[],
  ) => void;
}

/** Removes the properties that have no value. A property that is not there is not taken out: that would make every object slow to use. */
export function clearerOf(properties: readonly string[]): (dto: object) => void {
  const lines = properties
    .map(JSON.stringify as (name: string) => string)
    .map(name => `if (dto[${name}] === undefined && has(dto, ${name})) delete dto[${name}];`);
  return compile(`return dto => {\n${lines.join('\n')}\n};`, { has: Object.hasOwn }) as (dto: object) => void;
}

/** A property that is read from a field of a JSON object. */
export interface Field {
  /** What its value is put under. */
  readonly key: string | number;
  readonly jsonName: string;
  /** Reads a value by itself, where the type can. */
  readonly fast: ((value: unknown) => unknown) | undefined;
}

/** Where values are put. */
interface Holder {
  readonly target: object;
}

/** Reads the fields of a JSON object, one after the other. */
export type ReadFields<H extends Holder> = (holder: H, json: JsonObject, location: Location) => void;

/** @param goOn reads a field that is not there, or that its type cannot read by itself. */
export function readerOf<F extends Field, H extends Holder>(
  fields: readonly F[],
  goOn: (field: F, ...from: Parameters<ReadFields<H>>) => void,
): ReadFields<H> {
  const lines = fields.map(({ key, jsonName, fast }, at) => {
    const name = JSON.stringify(jsonName);
    const rest = `goOn(fields[${at}], holder, json, location);`;
    // What every object inherits is not what was sent: `constructor` and `__proto__`, and whatever is added later.
    if (!fast) return rest;
    return `sent = json[${name}]; value = sent === inherited[${name}] ? undefined : read${at}(sent); if (value !== undefined) target[${JSON.stringify(key)}] = value; else ${rest}`;
  });
  const readers = Object.fromEntries(fields.map(({ fast }, at) => [`read${at}`, fast]));
  // An object that inherits anything else is not what JSON.parse makes. (V8 looks a prototype up for nothing when it has just loaded a property.)
  const guard = `let sent = json[${JSON.stringify(fields[0]?.jsonName)}]; const prototype = prototypeOf(json); if (prototype !== inherited && prototype !== null) { for (const field of fields) goOn(field, holder, json, location); return; }`;
  return compile(
    `return (holder, json, location) => {\n${guard}\nconst { target } = holder; let value;\n${lines.join('\n')}\n};`,
    { prototypeOf: Object.getPrototypeOf, inherited: Object.prototype, fields, goOn, ...readers },
  ) as ReadFields<H>;
}
