import fc from 'fast-check';

/** A value and how a client spells it: as text (undefined where text cannot say it), and in JSON. */
export class Spelled {
  constructor(
    readonly value: unknown,
    readonly text: string | undefined,
    readonly json = JSON.stringify(text),
  ) {}

  [fc.toStringMethod](): string {
    return this.json;
  }
}

/** A dto and the spellings of its members. @param extras what is sent along and declared nowhere. */
export class Filled {
  constructor(
    readonly Dto: new () => object,
    readonly members: Readonly<Record<string, Spelling>>,
    private readonly extras: readonly (readonly [name: string, spelling: Spelling])[] = [],
  ) {}

  /** All that is sent, the extras around the members. */
  get sent(): readonly (readonly [name: string, spelling: Spelling])[] {
    return [...this.extras.slice(1), ...Object.entries(this.members), ...this.extras.slice(0, 1)];
  }

  [fc.toStringMethod](): string {
    return jsonOf(this);
  }
}

/** What a client sends; undefined where it sends nothing. */
export type Spelling = Spelled | Filled | readonly Spelling[] | undefined;

export type Pair = readonly [name: string, value: string];

/** Picks one of several ways of saying the same. */
export type Choose = <T>(...ways: readonly [T, ...T[]]) => T;

/** What it is bound to. */
export function valueOf(spelling: Spelling): unknown {
  if (spelling === undefined) return undefined;
  if (spelling instanceof Spelled) return spelling.value;
  if (!(spelling instanceof Filled)) return spelling.map(valueOf);
  const values = Object.entries(spelling.members).map(([name, member]) => [name, valueOf(member)] as const);
  return Object.assign(new spelling.Dto(), Object.fromEntries(values.filter(([, value]) => value !== undefined)));
}

export function jsonOf(spelling: Exclude<Spelling, undefined>): string {
  if (spelling instanceof Spelled) return spelling.json;
  if (!(spelling instanceof Filled))
    return `[${spelling.map(item => jsonOf(item ?? new Spelled(null, undefined, 'null'))).join(', ')}]`;
  return `{${spelling.sent.flatMap(([name, member]) => (member === undefined ? [] : [`${JSON.stringify(name)}: ${jsonOf(member)}`])).join(',')}}`;
}

/** The names and values of a query or a form. @param below how the name of a member is made; without it, members are sent as JSON text. */
export function pairsOf(
  spelling: Spelling,
  name: string,
  choose: Choose,
  below?: (name: string, member: string) => string,
): Pair[] {
  if (spelling === undefined) return [];
  if (spelling instanceof Spelled) return [[name, spelling.text ?? '']];
  if (!(spelling instanceof Filled)) return pairsOfList(spelling, name, choose, below);
  const members = spelling.sent;
  const pairs =
    below && choose(true, true, true, false)
      ? (choose(false, true) ? members.toReversed() : members).flatMap(([key, member]) =>
          pairsOf(member, below(name, key), choose, below),
        )
      : [];
  return pairs.length === 0 ? [[name, jsonOf(spelling)]] : pairs;
}

/** The members of the root, whose own name is nowhere. */
export function rootPairsOf(
  { sent }: Filled,
  choose: Choose,
  below?: (name: string, member: string) => string,
): Pair[] {
  const pairs = sent.flatMap(([name, member]) => pairsOf(member, name, choose, below));
  return pairs.map(([name, value]) => [choose(name, name, name.toUpperCase()), value]);
}

function pairsOfList(
  items: readonly Spelling[],
  name: string,
  choose: Choose,
  below?: (name: string, member: string) => string,
): Pair[] {
  const asJson = (): Pair[] => [[name, jsonOf(items)]];
  const texts = items.map(item =>
    item instanceof Spelled ? (item.text ?? '') : item === undefined ? '' : jsonOf(item),
  );
  const isObjects = items.some(item => item instanceof Filled);
  // One value that is split or taken for JSON can be said in JSON only; so can no item, and one item of empty text.
  const isLiteral = texts.length > 1 || (texts.length === 1 && (isObjects || !/,|^\s*[[{]|^$/.test(texts[0] ?? '')));
  if (!isLiteral) return asJson();
  const isSplit =
    texts.length > 1 &&
    !isObjects &&
    texts.every(text => text.trim() !== '' && !text.includes(',')) &&
    !/^\s*[[{]/.test(texts[0] ?? '');
  const indexed = (step: number): Pair[][] =>
    items.map((item, index) => pairsOf(item, `${name}[${index * step}]`, choose, below));
  return choose<() => Pair[]>(
    asJson,
    () => texts.map(text => [name, text]),
    () => texts.map(text => [`${name}[]`, text]),
    () => indexed(1).flat(),
    () => indexed(7).reverse().flat(),
    () => (isSplit ? [[name, texts.join(',')]] : asJson()),
  )();
}

export const withDots = (name: string, member: string): string => `${name}.${member}`;
export const withBrackets = (name: string, member: string): string => `${name}[${member}]`;

/** As a browser, or a careless client, encodes a query or a form. */
export function urlEncode(pairs: readonly Pair[], choose: Choose): string {
  const encode = choose(encodeURIComponent, (text: string) => encodeURIComponent(text).replaceAll('%20', '+'));
  const encodeName = choose(encode, (name: string) => name.replaceAll('%', '%25'));
  return pairs.map(([name, value]) => `${encodeName(name)}=${encode(value)}`).join('&');
}

/** As browsers send a form, but with line ends as they are. */
export function multipart(pairs: readonly Pair[]): {
  readonly body: Buffer;
  readonly headers: { readonly 'Content-Type': string };
} {
  const boundary = '----a-boundary-that-no-value-has';
  const parts = pairs.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return {
    body: Buffer.from(`${parts.join('')}--${boundary}--\r\n`),
    headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` },
  };
}
