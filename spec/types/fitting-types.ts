import { bool, dto, enumOf, field, file, fromBody, fromHeader, hasPermission, int, jsonField, list } from '../../lib';
import { long, nullable, optional, plainText, queryParam, routeParam, string } from '../../lib';
import type { UploadedFile } from '../../lib';

/** A decorator says what it binds, and the compiler compares that with the declared type of the field. */

class Line extends dto({ sku: string }) {}

export class Fitting {
  @field(int) number!: number;
  @field(int) wider!: number | string;
  @field(int) unknown!: unknown;
  @jsonField(int) cents!: number;
  @queryParam(bool) initialised = false;
  @queryParam(int, { required: false }) loose?: number | undefined;
  @queryParam(int, { default: 1 }) initial!: number;
  @field(optional(string)) maybe: string | undefined;
  @field(nullable(string)) none!: string | null;
  @field(list(Line)) lines!: Line[];
  @field(list(Line)) readonly frozen!: readonly Line[];
  @field(enumOf(['a', 'b'])) letter!: 'a' | 'b';
  @field(enumOf(['a', 'b'])) anyText!: string;
  @field(file) photo!: UploadedFile;
  @routeParam(long) id!: bigint;
  @fromBody(Line) body!: Line;
  @fromHeader(string) protected tenant!: string;
  @plainText() text!: string;
  @hasPermission('x') may!: boolean;
  @hasPermission('x', { required: false }) might = false;
}

export class Wrong {
  // @ts-expect-error -- a number is no string
  @field(int) number!: string;
  // @ts-expect-error -- text may be any text
  @field(string) narrow!: 'a' | 'b';
  // @ts-expect-error -- a permission is a boolean
  @hasPermission('x') may!: string;
  // @ts-expect-error -- a value that is not required may be undefined
  @queryParam(int, { required: false }) loose!: number;
  // @ts-expect-error -- an optional value may be undefined
  @field(optional(int)) maybe!: number;
  // @ts-expect-error -- a nullable value may be null
  @field(nullable(int)) none!: number;
  // @ts-expect-error -- a list is no single item
  @field(list(int)) numbers!: number;
  // @ts-expect-error -- a list of numbers is no list of strings
  @field(list(int)) strings!: string[];
  // @ts-expect-error -- a long is a bigint
  @routeParam(long) id!: number;
  // @ts-expect-error -- text is no number
  @plainText() text!: number;
  // @ts-expect-error -- the initialiser has another type
  @queryParam(bool) initialised = 0;
}

export class Misplaced {
  // @ts-expect-error -- methods are not bound
  @field(int) method(): number {
    return 1;
  }
  // @ts-expect-error -- accessors are not bound
  @field(int) get accessor(): number {
    return 1;
  }
}
