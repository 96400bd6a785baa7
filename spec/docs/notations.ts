import { pageOf, pagesIn, snippetsIn, type Page } from './pages';

/**
 * The tables of docs/coming-from-fastendpoints.md as a program: every declaration in both notations, and every operation.
 * The names that their rows use are declared here.
 */
const prelude = `
import express from 'express';
import { bindRequest, bool, configure, dto, enumOf, field, file, formField, fromBody, fromClaim, fromCookie, fromForm, fromHeader, fromQuery, guid, hasPermission, idempotency, int, jsonField, lazy, list, nullable, optional, plainText, queryParam, queryValue, RequestBinder, routeParam, routeValue, serializerContext, string, valueParserFor, type AnyType, type Binder, type BinderContext, type DtoClass, type JsonConverter, type ParseResult, type UploadedFile } from 'bindonce';

class Address extends dto({ city: string }) {}
class Book extends dto({ title: string }) {}
class Filter extends dto({ tags: list(string) }) {}
class OrderLine extends dto({ sku: string }) {}
class OrderView extends dto({ id: int }) {}
class PlaceOrder extends dto({ lines: list(OrderLine) }) {}
enum State { Open, Closed }
interface Tree { children: Tree[] }
class TreeNode { @field(list(lazy(() => TreeNode))) children!: TreeNode[]; }
class Money { static tryParse(text: string | undefined): ParseResult<Money> { return text === '' ? { success: false } : { success: true, value: new Money() }; } }
class OwnBinder extends RequestBinder<PlaceOrder> { constructor(readonly Dto?: AnyType) { super(); } }
const moneyConverter: JsonConverter<Money> = { type: Money, read: () => ({ success: true, value: new Money() }), write: () => '' };
const handler: express.RequestHandler = (_req, res) => { res.end(); };
const req = { params: { id: '0f8fad5b-d9cb-469f-a165-70867728950e' }, url: '/?page=1' } as unknown as express.Request;
const load = (_req: express.Request, _signal: AbortSignal): Promise<PlaceOrder> => Promise.resolve(new PlaceOrder());
const app = express();
`;

/** The rows of a table by its header, their cells without the back quotes. */
function rowsUnder(text: string, header: string): string[][] {
  const [, table = ''] = text.split(`${header}\n`);
  const [body = ''] = table.split('\n\n');
  return body
    .split('\n')
    .slice(1)
    .filter(row => row !== '')
    .map(row =>
      row
        .slice(2, -2)
        .split(' | ')
        .map(cell => cell.replaceAll('\\|', '|').replace(/^`(.*)`$/, '$1')),
    );
}

export const declarations = ({ text }: Page): string[][] => rowsUnder(text, '| .NET | `dto({...})` | Decorator |');
export const operations = ({ text }: Page): string[][] => rowsUnder(text, '| .NET | Here |');

/** One program that has every row of both tables as it is. */
export function programOf(page: Page): string {
  const declared = declarations(page).flatMap(([, entry = '', decorated = ''], row) => [
    `export class Entry${row} extends dto({ ${entry} }) {}`,
    `export class Decorated${row} { ${decorated}; }`,
    `void [bindRequest(Entry${row}, { allowFormData: true }), bindRequest(Decorated${row}, { allowFormData: true })];`,
  ]);
  const done = operations(page).map(([, expression = '']) => `void (${expression});`);
  return [prelude, ...declared, ...done].join('\n');
}

/** The page that the tables of both notations are on. */
export const notationsIn = (root: string): Page => pageOf(root, 'docs/coming-from-fastendpoints.md');

/** Every snippet of the README and of docs/, and the program of the tables of both notations. */
export function programsIn(root: string): readonly string[] {
  return [...snippetsIn(pagesIn(root)).map(({ code }) => code), programOf(notationsIn(root))];
}
