
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

export class Entry0 extends dto({ quantity: int }) {}
export class Decorated0 { @field(int) quantity!: number; }
void [bindRequest(Entry0, { allowFormData: true }), bindRequest(Decorated0, { allowFormData: true })];
export class Entry1 extends dto({ quantity: optional(int) }) {}
export class Decorated1 { @field(optional(int)) quantity?: number; }
void [bindRequest(Entry1, { allowFormData: true }), bindRequest(Decorated1, { allowFormData: true })];
export class Entry2 extends dto({ rush: field(bool, { default: false }) }) {}
export class Decorated2 { @field(bool) rush = false; }
void [bindRequest(Entry2, { allowFormData: true }), bindRequest(Decorated2, { allowFormData: true })];
export class Entry3 extends dto({ lines: list(OrderLine) }) {}
export class Decorated3 { @field(list(OrderLine)) lines!: OrderLine[]; }
void [bindRequest(Entry3, { allowFormData: true }), bindRequest(Decorated3, { allowFormData: true })];
export class Entry4 extends dto({ state: enumOf(State) }) {}
export class Decorated4 { @field(enumOf(State)) state!: State; }
void [bindRequest(Entry4, { allowFormData: true }), bindRequest(Decorated4, { allowFormData: true })];
export class Entry5 extends dto({ price: Money }) {}
export class Decorated5 { @field(Money) price!: Money; }
void [bindRequest(Entry5, { allowFormData: true }), bindRequest(Decorated5, { allowFormData: true })];
export class Entry6 extends dto({ children: list(lazy((): DtoClass<Tree> => TreeNode)) }) {}
export class Decorated6 { @field(list(lazy(() => TreeNode))) children!: Tree[]; }
void [bindRequest(Entry6, { allowFormData: true }), bindRequest(Decorated6, { allowFormData: true })];
export class Entry7 extends dto({ address: fromBody(Address) }) {}
export class Decorated7 { @fromBody(Address) address!: Address; }
void [bindRequest(Entry7, { allowFormData: true }), bindRequest(Decorated7, { allowFormData: true })];
export class Entry8 extends dto({ book: fromForm(Book) }) {}
export class Decorated8 { @fromForm(Book) book!: Book; }
void [bindRequest(Entry8, { allowFormData: true }), bindRequest(Decorated8, { allowFormData: true })];
export class Entry9 extends dto({ filter: fromQuery(Filter) }) {}
export class Decorated9 { @fromQuery(Filter) filter!: Filter; }
void [bindRequest(Entry9, { allowFormData: true }), bindRequest(Decorated9, { allowFormData: true })];
export class Entry10 extends dto({ sub: fromClaim(string) }) {}
export class Decorated10 { @fromClaim(string) sub!: string; }
void [bindRequest(Entry10, { allowFormData: true }), bindRequest(Decorated10, { allowFormData: true })];
export class Entry11 extends dto({ userId: fromClaim(string, { name: 'sub', required: false, fallback: false }) }) {}
export class Decorated11 { @fromClaim(string, { name: 'sub', required: false, fallback: false }) userId?: string; }
void [bindRequest(Entry11, { allowFormData: true }), bindRequest(Decorated11, { allowFormData: true })];
export class Entry12 extends dto({ tenant: fromHeader(string, { name: 'X-Tenant' }) }) {}
export class Decorated12 { @fromHeader(string, { name: 'X-Tenant' }) tenant!: string; }
void [bindRequest(Entry12, { allowFormData: true }), bindRequest(Decorated12, { allowFormData: true })];
export class Entry13 extends dto({ mayCancel: hasPermission('orders:cancel') }) {}
export class Decorated13 { @hasPermission('orders:cancel') mayCancel!: boolean; }
void [bindRequest(Entry13, { allowFormData: true }), bindRequest(Decorated13, { allowFormData: true })];
export class Entry14 extends dto({ mayCancel: hasPermission('orders:cancel', { required: false }) }) {}
export class Decorated14 { @hasPermission('orders:cancel', { required: false }) mayCancel!: boolean; }
void [bindRequest(Entry14, { allowFormData: true }), bindRequest(Decorated14, { allowFormData: true })];
export class Entry15 extends dto({ customerId: field(int, { bindFrom: 'customer-id' }) }) {}
export class Decorated15 { @field(int, { bindFrom: 'customer-id' }) customerId!: number; }
void [bindRequest(Entry15, { allowFormData: true }), bindRequest(Decorated15, { allowFormData: true })];
export class Entry16 extends dto({ customerId: field(int, { jsonPropertyName: 'customer' }) }) {}
export class Decorated16 { @field(int, { jsonPropertyName: 'customer' }) customerId!: number; }
void [bindRequest(Entry16, { allowFormData: true }), bindRequest(Decorated16, { allowFormData: true })];
export class Entry17 extends dto({ customerId: field(int, { dontBind: ['query', 'route'] }) }) {}
export class Decorated17 { @field(int, { dontBind: ['query', 'route'] }) customerId!: number; }
void [bindRequest(Entry17, { allowFormData: true }), bindRequest(Decorated17, { allowFormData: true })];
export class Entry18 extends dto({ title: formField(string) }) {}
export class Decorated18 { @formField(string) title!: string; }
void [bindRequest(Entry18, { allowFormData: true }), bindRequest(Decorated18, { allowFormData: true })];
export class Entry19 extends dto({ price: jsonField(int) }) {}
export class Decorated19 { @jsonField(int) price!: number; }
void [bindRequest(Entry19, { allowFormData: true }), bindRequest(Decorated19, { allowFormData: true })];
export class Entry20 extends dto({ page: queryParam(int) }) {}
export class Decorated20 { @queryParam(int) page!: number; }
void [bindRequest(Entry20, { allowFormData: true }), bindRequest(Decorated20, { allowFormData: true })];
export class Entry21 extends dto({ orderId: routeParam(guid) }) {}
export class Decorated21 { @routeParam(guid) orderId!: string; }
void [bindRequest(Entry21, { allowFormData: true }), bindRequest(Decorated21, { allowFormData: true })];
export class Entry22 extends dto({ quantity: field(int, { jsonRequired: true }) }) {}
export class Decorated22 { @field(int, { jsonRequired: true }) quantity!: number; }
void [bindRequest(Entry22, { allowFormData: true }), bindRequest(Decorated22, { allowFormData: true })];
export class Entry23 extends dto({ photo: formField(file) }) {}
export class Decorated23 { @formField(file) photo!: UploadedFile; }
void [bindRequest(Entry23, { allowFormData: true }), bindRequest(Decorated23, { allowFormData: true })];
export class Entry24 extends dto({ content: plainText() }) {}
export class Decorated24 { @plainText() content!: string; }
void [bindRequest(Entry24, { allowFormData: true }), bindRequest(Decorated24, { allowFormData: true })];
void (app.get('/orders/:id', bindRequest(PlaceOrder), handler));
void (bindRequest(list(OrderLine)));
void (bindRequest(PlaceOrder, { allowAnonymous: false }));
void (idempotency({ cacheDuration: 60_000, additionalHeaders: ['X-Tenant'] }));
void (bindRequest(PlaceOrder, { allowFormData: true }));
void (bindRequest(PlaceOrder, { allowFormData: { urlEncoded: true } }));
void (bindRequest(PlaceOrder, { serializerContext: serializerContext({ request: PlaceOrder, responses: { 201: OrderView } }) }));
void (routeValue(req, 'id', guid));
void (routeValue(req, 'id', int, { required: false }));
void (bindRequest(PlaceOrder, { binder: new OwnBinder() }));
void (({ bind: (context, signal) => load(context.req, signal) }) satisfies Binder<PlaceOrder>);
void (configure({ binding: { binder: Dto => new OwnBinder(Dto) } }));
void (configure({ binding: { modifier: (dto: { at?: Date }, Dto, context, signal) => { dto.at = new Date(); } } }));
void ((context: BinderContext) => [context.req, context.res, context.serializerOptions, context.failures]);
void (configure({ binding: { valueParsers: [valueParserFor(Money, input => Money.tryParse(input))] } }));