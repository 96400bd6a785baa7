import Ajv, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { OpenApiDocument } from '../../lib';

/** A request as a client sends it: JSON as text, a form as FormData. */
export interface Sent {
  readonly method?: string;
  /** Path and query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required?: boolean;
  readonly schema?: Schema;
}

type Schema = Readonly<Record<string, unknown>>;
type Contents = Readonly<Record<string, { readonly schema?: Schema }>>;

interface Operation {
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Contents };
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly content?: Contents;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
}

/** Compares requests and answers with a document, which is all that it knows of them. */
export class ExchangeCheck {
  private readonly ajv = addFormats(new Ajv({ strict: false, allErrors: true }))
    .addFormat('decimal', true)
    .addFormat('binary', true);
  private readonly compiled = new Map<Schema, ValidateFunction>();

  constructor(private readonly document: OpenApiDocument) {}

  /** Sends a request and returns what the document does not allow: in the request, and in the answer. */
  async send(
    url: string,
    sent: Sent,
  ): Promise<{ readonly status: number; readonly request: string[]; readonly answer: string[] }> {
    const { path, body } = sent;
    const headers = { ...(typeof body === 'string' && { 'Content-Type': 'application/json' }), ...sent.headers };
    const response = await fetch(url + path, { method: methodOf(sent), headers, ...(body !== undefined && { body }) });
    const answer: Answer = { status: response.status, headers: response.headers, text: await response.text() };
    return {
      status: answer.status,
      request: this.inRequest({ ...sent, headers }),
      answer: this.inAnswer(sent, answer),
    };
  }

  private inRequest(sent: Sent): string[] {
    const { operation, values } = this.operationOf(sent);
    const query = new URL(sent.path, 'http://x').searchParams;
    const headers = new Headers(sent.headers);
    const textsOf = ({ in: where, name }: Parameter): readonly string[] => {
      if (where === 'query') return query.getAll(name);
      const value = where === 'path' ? values.get(name) : where === 'header' ? headers.get(name) : undefined;
      return value === undefined || value === null ? [] : [value];
    };
    const faults = (operation.parameters ?? []).flatMap(parameter => {
      const texts = textsOf(parameter);
      const where = `${parameter.in} ${parameter.name}`;
      if (texts.length === 0) return parameter.required ? [`${where}: required`] : [];
      const { schema = {} } = parameter;
      const inText = schema['contentSchema'] as Schema | undefined;
      return this.faultsIn(where, inText ?? schema, inText ? JSON.parse(texts[0] ?? '') : valueOf(texts, schema));
    });
    const described = new Set((operation.parameters ?? []).filter(one => one.in === 'path').map(({ name }) => name));
    const unknown = [...values.keys()].filter(name => !described.has(name)).map(name => `path ${name}: not described`);
    return [...unknown, ...faults, ...this.inBody(operation, sent)];
  }

  private inBody({ requestBody }: Operation, { body }: Sent): string[] {
    if (body === undefined) return requestBody?.required ? ['body: required'] : [];
    const type = typeof body === 'string' ? 'application/json' : 'multipart/form-data';
    const content = requestBody?.content[type];
    if (!content) return [`body: ${type} is not described`];
    const value: unknown =
      typeof body === 'string'
        ? JSON.parse(body)
        : Object.fromEntries([...body].map(([name, one]) => [name, typeof one === 'string' ? one : standInFor(one)]));
    return this.faultsIn('body', content.schema ?? {}, value);
  }

  private inAnswer(sent: Sent, { status, headers, text }: Answer): string[] {
    const { responses } = this.operationOf(sent).operation;
    const response = responses[status] ?? responses['default'];
    if (!response) return [`status ${status} is not described`];
    const ofHeaders = Object.entries(response.headers ?? {}).flatMap(([name, { schema }]) => {
      const value = headers.get(name);
      return value === null ? [] : this.faultsIn(`header ${name}`, schema, valueOf([value], schema));
    });
    if (text === '') return ofHeaders;
    const type = headers.get('content-type')?.split(';', 1)[0] ?? '';
    const { content = {} } = response;
    const described = content[type] ?? content['*/*'];
    if (!described) return [...ofHeaders, `status ${status}: ${type} is not described`];
    const value: unknown = type.endsWith('json') ? JSON.parse(text) : text;
    return [...ofHeaders, ...this.faultsIn(`status ${status}`, described.schema ?? {}, value)];
  }

  private operationOf(sent: Sent): { readonly operation: Operation; readonly values: ReadonlyMap<string, string> } {
    const [path = ''] = sent.path.split('?', 1);
    for (const [template, operations] of Object.entries(this.document.paths)) {
      const names = [...template.matchAll(/\{([^}]*)\}/g)].map(([, name = '']) => name);
      const found = new RegExp(`^${template.replace(/\{[^}]*\}/g, '([^/]+)')}$`).exec(path);
      const operation = operations[methodOf(sent).toLowerCase()] as Operation | undefined;
      if (found && operation)
        return { operation, values: new Map(names.map((name, at) => [name, decodeURIComponent(found[at + 1] ?? '')])) };
    }
    throw new Error(`The document does not describe ${methodOf(sent)} ${path}`);
  }

  private faultsIn(where: string, schema: Schema, value: unknown): string[] {
    const validate =
      this.compiled.get(schema) ?? this.ajv.compile({ ...schema, components: this.document['components'] });
    this.compiled.set(schema, validate);
    return validate(value)
      ? []
      : (validate.errors ?? []).map(({ instancePath, message }) => `${where}${instancePath}: ${message}`);
  }
}

/** Makes a text of as many characters as a file has bytes. */
const standInFor = ({ size }: File): string => ' '.repeat(size);

const methodOf = ({ method, body }: Sent): string => method ?? (body === undefined ? 'GET' : 'POST');

/** Reads texts as their schema says: a list one by one, a number or a boolean as in JSON. */
function valueOf(texts: readonly string[], { type, items }: Schema): unknown {
  if (type === 'array') return texts.map(text => valueOf([text], (items ?? {}) as Schema));
  const [text = ''] = texts;
  return ['integer', 'number', 'boolean'].includes(type as string) && /^(true|false|-?\d+(\.\d+)?)$/.test(text)
    ? JSON.parse(text)
    : text;
}
